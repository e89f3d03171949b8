// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/device_counts.h"

#include <algorithm>

#include "proto/mailbox/catalog.h"
#include "secure_mcu/firmware/complement.h"

namespace sideband::mcu {
namespace {

using Counts = std::vector<uint64_t>;
using Uses = absl::FunctionRef<bool(size_t)>;

// The device's block, without private VMs.
std::optional<Counts> OwnCounts(Device& device, Uses uses) {
  const auto counters = device.DeviceCounters();
  Counts counts(counters.begin(), counters.end());
  const auto block = device.BlockCounters(mailbox::kHypervisorVm, mailbox::kNoContext);
  if (!block) return counts;
  for (const RotatedCount& rotated : block->rotated) {
    if (rotated.is_unknown() && uses(rotated.event)) return std::nullopt;
    // The counter may be of another channel, with newer commits than the block.
    counts[rotated.event] = std::max(counts[rotated.event], rotated.estimate);
  }
  return counts;
}

// Adds a block to the counts. Returns false if it lacks a count that is used.
bool Add(Device& device, uint16_t vm, uint16_t context, Uses uses, Counts& counts) {
  const auto block = device.BlockCounters(vm, context);
  if (!block) return true;
  for (size_t event = 0; event < counts.size(); ++event) {
    const RotatedCount* const rotated = block->FindRotated(static_cast<uint16_t>(event));
    if (rotated != nullptr && rotated->is_unknown() && uses(event)) return false;
    counts[event] += block->CountOf(static_cast<uint16_t>(event));
  }
  return true;
}

std::optional<Counts> SumOfOpenBlocks(Device& device, Uses uses) {
  Counts counts(device.DeviceCounters().size());
  for (const mailbox::VmInfo& vm : device.catalog().vms) {
    // A private VM's activity is no more the board's than a confidential one's: the device's block would lack it, too.
    if (vm.confidential || vm.is_private) continue;
    if (!Add(device, vm.id, mailbox::kNoContext, uses, counts)) return std::nullopt;
  }
  for (const mailbox::HostBlockInfo& host : device.catalog().host_blocks) {
    if (!Add(device, mailbox::kHypervisorVm, host.slice, uses, counts)) return std::nullopt;
  }
  return counts;
}

}  // namespace

std::optional<std::vector<uint64_t>> OpenCounts(Device& device, Uses uses) {
  const mailbox::Catalog& catalog = device.catalog();
  if (!HasHadConfidentialVm(catalog)) return OwnCounts(device, uses);
  auto counts = DeviceBlockIsOpen(catalog) ? OwnCounts(device, uses) : SumOfOpenBlocks(device, uses);
  if (!counts) return std::nullopt;
  for (size_t event = 0; event < counts->size(); ++event) {
    if (catalog.events[event].scope == mailbox::EventScope::kDevice) (*counts)[event] = 0;
  }
  return counts;
}

std::optional<std::vector<uint64_t>> WholeCounts(Device& device, Uses uses) {
  auto counts = OwnCounts(device, uses);
  if (!counts) return std::nullopt;
  for (const mailbox::VmInfo& vm : device.catalog().vms) {
    if (vm.is_private && !Add(device, vm.id, mailbox::kNoContext, uses, *counts)) return std::nullopt;
  }
  return counts;
}

}  // namespace sideband::mcu
