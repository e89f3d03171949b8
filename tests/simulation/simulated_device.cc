// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/simulated_device.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace sideband::tests {
namespace {

using mailbox::BlockState;

constexpr uint8_t kSlices = 4;
constexpr uint64_t kClockHz = 1'000'000'000;

Uuid MakeUuid(uint8_t kind, uint16_t number) {
  Uuid uuid;
  uuid.bytes[0] = kind;
  uuid.bytes[14] = static_cast<uint8_t>(number >> 8);
  uuid.bytes[15] = static_cast<uint8_t>(number);
  return uuid;
}

}  // namespace

SimulatedDevice::SimulatedDevice(const Options& options, Truth& truth, std::function<uint64_t()> now_ns)
    : identity_{.uuid = MakeUuid(1, 0), .serial = "SIM", .part_number = "SIM", .boot_id = options.boot_id},
      retires_one_in_(options.retires_one_in),
      truth_(truth),
      now_ns_(std::move(now_ns)),
      random_(options.seed) {
  Populate(options);
  FollowBlocks();
}

void SimulatedDevice::Populate(const Options& options) {
  catalog_.device = identity_.uuid;
  catalog_.reference_clock_hz = kClockHz;
  const uint64_t events = 1 + Draw(options.events_max);
  for (uint64_t i = 0; i < events; ++i) catalog_.events.push_back({absl::StrCat("event_", i), "cycles"});
  for (uint8_t slice = 0; slice < kSlices; ++slice) catalog_.slices.push_back({slice, absl::StrCat("slice", slice)});
  const std::vector<uint64_t> zeros(events);
  blocks_.push_back({.header = {.generation = 1}, .counters = zeros});
  const auto vms = static_cast<uint16_t>(Draw(options.vms_max + 1));
  for (uint16_t vm = 1; vm <= vms; ++vm) {
    const bool is_private = options.extension == mailbox::ExtensionVersion::kTwo && vm % 2 == 1;
    catalog_.vms.push_back({.id = vm,
                            .uuid = MakeUuid(2, vm),
                            .name = absl::StrCat("vm", vm),
                            .confidential = OneIn(4),
                            .generation = 1,
                            .is_private = is_private});
    const size_t place = blocks_.size();
    blocks_.push_back({.header = {.vm = vm, .generation = 1}, .counters = zeros});
    const uint64_t contexts = Draw(options.contexts_max + 1);
    for (uint16_t context = 0; context < contexts; ++context) {
      blocks_.push_back({.header = {.vm = vm, .context = context, .generation = 1},
                         .counters = zeros,
                         .is_there = !OneIn(3),
                         .slice = static_cast<uint8_t>(Draw(kSlices)),
                         .vm = place});
    }
  }
}

uint64_t SimulatedDevice::DrawCounts() {
  // Up to 2^44 at a time, so that the sum over a long life stays below 2^64.
  return OneIn(3) ? 0 : random_() >> (20 + Draw(44));
}

void SimulatedDevice::Touch(Block& block) {
  block.header.trigger_id = trigger_id_;
  block.header.reference_time_ns = now_ns_();
  ++block.header.sequence;
}

void SimulatedDevice::Count(Block& block) {
  Block& vm = blocks_[block.vm];
  const bool is_private = catalog_.vms[block.header.vm - 1].is_private;
  for (size_t i = 0; i < block.counters.size(); ++i) {
    const uint64_t counts = DrawCounts();
    block.counters[i] += counts;
    vm.counters[i] += counts;
    if (!is_private) blocks_[0].counters[i] += counts;
  }
  if (OneIn(50)) block.header.flags |= 1 << Draw(4);
  Touch(block);
  Touch(vm);
  if (!is_private) Touch(blocks_[0]);
}

void SimulatedDevice::Appear(Block& block) {
  block = {
      .header = {.vm = block.header.vm, .context = block.header.context, .generation = block.header.generation + 1},
      .counters = std::vector<uint64_t>(block.counters.size()),
      .slice = static_cast<uint8_t>(Draw(kSlices)),
      .vm = block.vm};
}

// The changes between two latches.
void SimulatedDevice::Live() {
  bool has_changed = false;
  for (Block& block : blocks_) {
    if (!IsContext(block) || block.header.state == BlockState::kRetired) continue;
    if (!block.is_there) {
      if (!OneIn(20)) continue;
      Appear(block);
      has_changed = true;
    }
    const bool retires = OneIn(retires_one_in_);
    block.header.state = OneIn(3) ? BlockState::kActive : BlockState::kIdle;
    // A retiring context counts once more, because final counts are the most easily lost.
    if (retires || block.header.state == BlockState::kActive) Count(block);
    if (retires) block.header.state = BlockState::kRetired;
  }
  if (has_changed) FollowBlocks();
}

mailbox::Snapshot SimulatedDevice::Latch() {
  ++trigger_id_;
  Live();
  mailbox::Snapshot snapshot{.trigger_id = trigger_id_,
                             .reference_time_ns = now_ns_(),
                             .counters_per_block = static_cast<uint32_t>(catalog_.events.size())};
  for (Block& block : blocks_) {
    block.was_retired = block.is_there && block.header.state == BlockState::kRetired;
    if (!block.is_there) continue;
    snapshot.blocks.push_back(block.header);
    snapshot.counters.insert(snapshot.counters.end(), block.counters.begin(), block.counters.end());
  }
  truth_.Latched(identity_.boot_id, snapshot, catalog_);
  return snapshot;
}

void SimulatedDevice::Acknowledge() {
  bool has_changed = false;
  for (Block& block : blocks_) {
    // Only a block that was retired in the newest latch has its final counts in the acknowledged snapshot.
    if (!std::exchange(block.was_retired, false)) continue;
    const mailbox::BlockHeader& header = block.header;
    truth_.Vanished({identity_.boot_id, header.vm, header.context, header.generation}, block.counters);
    block.is_there = false;
    block.header.state = BlockState::kIdle;
    if (OneIn(2)) Appear(block);
    has_changed = true;
  }
  if (has_changed) FollowBlocks();
}

void SimulatedDevice::ChangeCatalog() {
  for (Block& block : blocks_) {
    if (!IsContext(block) || !OneIn(2)) continue;
    if (!block.is_there) Appear(block);
    block.slice = static_cast<uint8_t>(Draw(kSlices));
  }
  FollowBlocks();
}

// Makes the catalogue of the present blocks and their generations.
void SimulatedDevice::FollowBlocks() {
  ++catalog_version_;
  catalog_.contexts.clear();
  for (const Block& block : blocks_) {
    if (!IsContext(block) || !block.is_there) continue;
    catalog_.contexts.push_back({.vm = block.header.vm,
                                 .id = block.header.context,
                                 .name = absl::StrCat("context", block.header.context),
                                 .slice = block.slice,
                                 .generation = block.header.generation});
  }
}

}  // namespace sideband::tests
