// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/redact.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "daemon/collector/rotation_sum.h"
#include "daemon/snapshot/level.h"
#include "proto/mailbox/block_bases.h"

namespace sideband::daemon {
namespace {

using mailbox::BlockHeader;

bool IsConfidential(const Topology& topology, const BlockHeader& block) {
  const mailbox::VmInfo* const vm = topology.FindVm(block.vm);
  return vm != nullptr && vm->confidential;
}

void AppendBlock(const mailbox::Snapshot& from, size_t block, mailbox::Snapshot& to) {
  const auto counters = from.Counters(block);
  to.blocks.push_back(from.blocks[block]);
  to.counters.insert(to.counters.end(), counters.begin(), counters.end());
  if (block < from.rotation.size()) to.rotation.push_back(from.rotation[block]);
}

mailbox::Snapshot WithoutConfidential(const Topology& topology, mailbox::Snapshot&& raw) {
  mailbox::Snapshot shown = {.boot_id = raw.boot_id,
                             .snapshot_id = raw.snapshot_id,
                             .catalog_hash = raw.catalog_hash,
                             .trigger_id = raw.trigger_id,
                             .reference_time_ns = raw.reference_time_ns,
                             .counters_per_block = raw.counters_per_block};
  shown.counters.reserve(raw.counters.size());
  for (size_t block = 0; block < raw.blocks.size(); ++block) {
    if (!IsConfidential(topology, raw.blocks[block])) AppendBlock(raw, block, shown);
  }
  // The compiler may not elide this, unlike a fill of memory that is about to be freed.
  OPENSSL_cleanse(raw.counters.data(), raw.counters.size() * sizeof(uint64_t));
  for (mailbox::BlockRotation& numbers : raw.rotation) {
    OPENSSL_cleanse(numbers.events.data(), numbers.events.size() * sizeof(mailbox::EventEstimate));
  }
  return shown;
}

std::span<uint64_t> DeviceRow(mailbox::Snapshot& shown) {
  return std::span(shown.counters).first(shown.counters_per_block);
}

bool IsSameBoot(const DeviceSnapshot* before, const mailbox::Snapshot& now) {
  return before != nullptr && before->data.boot_id == now.boot_id;
}

// Adds to the device's numbers of rotation what those of VMs and hosts have gained since `before`.
void AddRotation(const Topology& topology, const mailbox::Snapshot* before, Redacted& redacted) {
  static const mailbox::BlockRotation kNone;
  mailbox::Snapshot& shown = redacted.shown;
  if (shown.rotation.empty()) return;
  const mailbox::BlockBases bases(shown.blocks, before);
  RotationSum sum(topology.rotation(), shown.rotation[0], std::move(redacted.device_row_squares));
  for (size_t block = 1; block < shown.blocks.size(); ++block) {
    if (LevelOf(shown.blocks[block]) == Level::kContext) continue;
    const size_t place = bases.PlaceOf(block);
    const bool was_there = before != nullptr && place < before->rotation.size();
    sum.Add({was_there ? before->rotation[place] : kNone, bases.Of(block).counters},
            {shown.rotation[block], shown.Counters(block)});
  }
  shown.rotation[0] = sum.numbers();
  redacted.device_row_squares = sum.squares();
}

// Adds to the device's row what the blocks of VMs and hosts have counted since `before`. A block that `before` lacks
// contributes its whole count.
void AddIncrements(const Topology& topology, const mailbox::Snapshot* before, Redacted& redacted) {
  mailbox::Snapshot& shown = redacted.shown;
  // Block 0 is the device's own: CheckAgainst() has made sure of that.
  const mailbox::BlockBases bases(shown.blocks, before);
  const std::span<uint64_t> row = DeviceRow(shown);
  for (size_t block = 1; block < shown.blocks.size(); ++block) {
    // Contexts are included in their VM's block.
    if (LevelOf(shown.blocks[block]) == Level::kContext) continue;
    const mailbox::BaseBlock base = bases.Of(block);
    // A counter that a faulty device lets fall adds nothing: the device's row must never decrease.
    const auto counters = shown.Counters(block);
    for (size_t i = 0; i < row.size(); ++i) row[i] += counters[i] - std::min(counters[i], base.counter(i));
  }
  AddRotation(topology, before, redacted);
}

// Continues the device's row. After a restart of the device all counts are new, so every block contributes its whole
// count.
void CountOn(const Topology& topology, const DeviceSnapshot& before, Redacted& redacted) {
  mailbox::Snapshot& shown = redacted.shown;
  if (!IsSameBoot(&before, shown)) return AddIncrements(topology, nullptr, redacted);
  shown.blocks[0].generation = before.data.blocks[0].generation;
  std::ranges::copy(before.data.Counters(0), DeviceRow(shown).begin());
  if (!shown.rotation.empty() && !before.data.rotation.empty()) {
    shown.rotation[0] = before.data.rotation[0];
    redacted.device_row_squares = before.device_row_squares;
  }
  AddIncrements(topology, &before.data, redacted);
}

void WipeEstimate(const Rotation& rotation, size_t event, mailbox::Snapshot& shown) {
  if (shown.rotation.empty() || !rotation.IsRotated(event)) return;
  auto& numbers = shown.rotation[0].events;
  if (rotation.PlaceOf(event) < numbers.size()) numbers[rotation.PlaceOf(event)] = {};
}

// The counts of device-scope events are not shown. They stay at their last value, or at zero, so that a snapshot does
// not even contain them.
void WithholdDeviceScope(const Topology& topology, const DeviceSnapshot* before, mailbox::Snapshot& shown) {
  const bool goes_on = IsSameBoot(before, shown) && CountsTheSame(*before->topology, topology);
  const std::span<uint64_t> row = DeviceRow(shown);
  const std::vector<mailbox::EventInfo>& events = topology.catalog().events;
  for (size_t i = 0; i < row.size(); ++i) {
    if (events[i].scope != mailbox::EventScope::kDevice) continue;
    row[i] = goes_on ? before->data.Counters(0)[i] : 0;
    WipeEstimate(topology.rotation(), i, shown);
  }
}

// Sets the device's row to zeros and derives its header from the shown blocks.
void ClearDeviceRow(mailbox::Snapshot& shown) {
  std::ranges::fill(DeviceRow(shown), 0);
  if (!shown.rotation.empty()) shown.rotation[0] = {};
  // The device's own state and flags would show whether a confidential VM is at work.
  BlockHeader row{.generation = shown.blocks[0].generation,
                  .flags = mailbox::kFlagConfidentialExcluded,
                  .trigger_id = shown.trigger_id,
                  .reference_time_ns = shown.reference_time_ns};
  for (const BlockHeader& block : std::span(shown.blocks).subspan(1)) {
    row.flags |= block.flags;
    if (block.state == mailbox::BlockState::kActive) row.state = mailbox::BlockState::kActive;
  }
  shown.blocks[0] = row;
}

// The device's own block has none of the counts to be removed.
void TakeOwnBlock(const Topology& topology, const DeviceSnapshot* before, mailbox::Snapshot& shown) {
  WithholdDeviceScope(topology, before, shown);
  shown.blocks[0].flags |= mailbox::kFlagConfidentialExcluded;
}

// The device's own block as it is, beside the shown VMs.
Redacted WithWholeDevice(const Topology& topology, mailbox::Snapshot&& raw) {
  Redacted redacted{.shown = WithoutConfidential(topology, std::move(raw))};
  const bool lacks_private_vms = !topology.device_block_has_confidential_counts() ||
                                 std::ranges::any_of(topology.catalog().vms, &mailbox::VmInfo::is_private);
  if (lacks_private_vms) redacted.shown.blocks[0].flags |= mailbox::kFlagConfidentialExcluded;
  return redacted;
}

// Makes the device's row of the shown VMs.
void MakeSum(const Topology& topology, const DeviceSnapshot* before, const RowStart& start, Redacted& redacted) {
  ClearDeviceRow(redacted.shown);
  if (before != nullptr && CountsTheSame(*before->topology, topology)) return CountOn(topology, *before, redacted);
  redacted.shown.blocks[0].generation = start.generation;
  // Counters of other events have no last value to continue from, but were published before.
  redacted.device_row_is_new = before != nullptr || !start.is_first_of_boot;
  if (!redacted.device_row_is_new) AddIncrements(topology, nullptr, redacted);
}

}  // namespace

Redacted Redact(const Topology& topology, mailbox::Snapshot&& raw, const DeviceSnapshot* before, const RowStart& start,
                Complement rule) {
  // Both states are sticky within a boot: the counts of confidential VMs remain in the device's own block even if the
  // device no longer reports that there were any.
  const bool was_withheld = IsSameBoot(before, raw) && before->device_scope_withheld;
  const bool was_sum = IsSameBoot(before, raw) && before->device_row_is_sum;
  if (!topology.has_had_confidential_vm() && !was_withheld) return {.shown = std::move(raw)};
  if (rule == Complement::kAllow) return WithWholeDevice(topology, std::move(raw));
  Redacted redacted{.shown = WithoutConfidential(topology, std::move(raw)),
                    .device_scope_withheld = true,
                    .device_row_withheld = rule == Complement::kWithhold,
                    .device_row_is_sum = topology.device_block_has_confidential_counts() || was_sum};
  if (redacted.device_row_is_sum) {
    MakeSum(topology, before, start, redacted);
  } else {
    TakeOwnBlock(topology, before, redacted.shown);
  }
  return redacted;
}

}  // namespace sideband::daemon
