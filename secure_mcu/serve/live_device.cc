// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/serve/live_device.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"

namespace sideband::mcu {
namespace {

absl::StatusOr<std::vector<double>> EnergiesInOrder(const ChipFile& file, const EventTable& events) {
  std::vector<double> energies(events.events().size());
  for (const auto& [name, pj, line] : file.event_pj) {
    const auto event = events.Find(name);
    if (!event) {
      return LineError(file.path, line,
                       absl::StrCat("power: unknown event '", name, "'", DidYouMean(name, events.names())));
    }
    energies[*event] = pj;
  }
  return energies;
}

// The slice of a VM whose contexts all live on one.
uint8_t HomeSlice(const VmFileSpec& vm) {
  if (vm.contexts.empty()) return mailbox::kAnySlice;
  const uint8_t slice = vm.contexts[0].slice;
  const bool all_there = std::all_of(vm.contexts.begin(), vm.contexts.end(),
                                     [&](const ContextFileSpec& context) { return context.slice == slice; });
  return all_there ? slice : mailbox::kAnySlice;
}

std::vector<sim::WireSource*> Raw(const std::vector<std::shared_ptr<sim::WireSource>>& sources) {
  std::vector<sim::WireSource*> raw;
  for (const auto& source : sources) raw.push_back(source.get());
  return raw;
}

}  // namespace

absl::StatusOr<std::unique_ptr<LiveDevice>> LiveDevice::Create(const ChipFile& file, uint64_t boot_id,
                                                               Elapsed elapsed) {
  auto wiring = file.waveform ? MakeWaveformWiring(file) : MakeSyntheticWiring(file);
  if (!wiring.ok()) return wiring.status();
  PipelineConfig config = file.pipeline;
  config.events = static_cast<uint32_t>(wiring->events.events().size());
  config.ccus = wiring->ccus;
  auto chip = Chip::Create(config);
  if (!chip.ok()) return AtLine(chip.status(), file.path, 0);
  SIDEBAND_ASSIGN_OR_RETURN(auto energies, EnergiesInOrder(file, wiring->events));
  std::unique_ptr<LiveDevice> device(
      new LiveDevice(file, boot_id, std::move(elapsed), *std::move(wiring), *std::move(chip)));
  device->power_.event_pj = std::move(energies);
  return device;
}

LiveDevice::LiveDevice(const ChipFile& file, uint64_t boot_id, Elapsed elapsed, Wiring wiring,
                       std::unique_ptr<Chip> chip)
    : identity_{.uuid = file.uuid, .serial = file.serial, .part_number = file.part_number, .boot_id = boot_id},
      elapsed_(std::move(elapsed)),
      clock_hz_(file.pipeline.clock_hz),
      wiring_(std::move(wiring)),
      chip_(std::move(chip)),
      catalog_(MakeCatalog(file)),
      timeline_(wiring_.make_timeline(CreateBlocks(file))),
      power_(file.power),
      player_(std::make_unique<Player>(*chip_, *timeline_, Raw(wiring_.slices))) {
  for (uint8_t slice = 0; slice < wiring_.slices.size(); ++slice) chip_->Attach(slice, *wiring_.slices[slice]);
  chip_->Attach(kDeviceChannel, *wiring_.device);
}

mailbox::Catalog LiveDevice::MakeCatalog(const ChipFile& file) const {
  mailbox::Catalog catalog{.device = file.uuid, .reference_clock_hz = clock_hz_, .events = wiring_.events.events()};
  for (uint32_t slice = 0; slice < file.pipeline.slices; ++slice) {
    catalog.slices.push_back({static_cast<uint8_t>(slice), absl::StrCat("slice", slice)});
  }
  uint16_t vm_id = 0;
  for (const VmFileSpec& vm : file.vms) {
    ++vm_id;
    catalog.vms.push_back({vm_id, vm.uuid, vm.name, vm.confidential, HomeSlice(vm), /*generation=*/1});
    uint16_t context_id = 0;
    for (const ContextFileSpec& context : vm.contexts) {
      catalog.contexts.push_back({vm_id, context_id++, context.name, context.slice, /*generation=*/1});
    }
  }
  return catalog;
}

std::vector<Tenant> LiveDevice::CreateBlocks(const ChipFile& file) {
  std::vector<Tenant> tenants;
  uint16_t vm_id = 0;
  for (const VmFileSpec& vm : file.vms) {
    const BlockId block = chip_->memory().Create(++vm_id, mailbox::kNoContext);
    tenants.push_back({.vm = vm.name, .binding = {.vm = block}});
    uint16_t context_id = 0;
    for (const ContextFileSpec& context : vm.contexts) {
      tenants.push_back({vm.name, context.name, {.vm = block, .context = chip_->memory().Create(vm_id, context_id++)}});
    }
  }
  return tenants;
}

void LiveDevice::CatchUp() {
  const auto elapsed_ns = static_cast<uint64_t>(std::max<int64_t>(0, absl::ToInt64Nanoseconds(elapsed_())));
  player_->PlayTo(absl::Uint128Low64(absl::uint128(elapsed_ns) * clock_hz_ / 1'000'000'000));
}

mailbox::Snapshot LiveDevice::Latch() {
  CatchUp();
  const uint32_t trigger_id = chip_->Latch();
  mailbox::Snapshot snapshot{.trigger_id = trigger_id,
                             .reference_time_ns = chip_->ReferenceTimeNs(),
                             .counters_per_block = static_cast<uint32_t>(catalog_.events.size())};
  chip_->memory().CopyTo(snapshot.blocks, snapshot.counters);
  return snapshot;
}

std::span<const uint64_t> LiveDevice::DeviceCounters() {
  CatchUp();
  return chip_->memory().counters(0);
}

uint64_t LiveDevice::ReferenceTimeNs() { return chip_->ReferenceTimeNs(); }

}  // namespace sideband::mcu
