// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/random_snapshots.h"

#include "proto/mailbox/catalog.h"

namespace sideband::mailbox {
namespace {

constexpr uint16_t kVms = 4;
constexpr uint16_t kContexts = 3;

}  // namespace

RandomSnapshots::RandomSnapshots(uint64_t seed, bool with_rotation)
    : random_(seed), counters_(Below(40)), with_rotation_(with_rotation) {
  if (OneIn(3)) {
    const auto confidential = static_cast<uint16_t>(1 + Below(kVms));
    whole_.insert(confidential);
    if (confidential % 2 == 0) whole_.insert(kHypervisorVm);  // it is not private
  }
  now_.boot_id = random_();
  now_.counters_per_block = counters_;
  blocks_[{kHypervisorVm, kNoContext}].counters.resize(counters_);
  if (with_rotation) ChangeLayout();
}

// Blocks forget their numbers of events that have been others.
void RandomSnapshots::ChangeLayout() {
  now_.layout = {};
  for (uint16_t event = 0; event < counters_; ++event) {
    if (!OneIn(3)) now_.layout.events.push_back({event, static_cast<uint8_t>(OneIn(2) ? kNoGateGroup : Below(3))});
  }
  for (uint16_t number = 0; number < 3; ++number) {
    RotationLayout::Plan plan{.number = number, .sets_of = {}};
    for (size_t i = 0; i < now_.layout.events.size(); ++i) plan.sets_of.push_back(random_() >> Below(64));
    if (OneIn(2)) now_.layout.plans.push_back(plan);
  }
  for (auto& [scope, block] : blocks_) block.rotation.events.clear();
}

void RandomSnapshots::Rotate(BlockRotation& numbers) {
  if (!with_rotation_ || OneIn(8)) return;
  if (OneIn(10)) numbers = {};
  if (numbers.parts.size() < 4 && OneIn(4)) {
    const size_t columns = 1 + Below(3), sets = Below(9);
    const auto plan = static_cast<uint16_t>(numbers.parts.empty() ? Below(2) : numbers.parts.back().plan + 1);
    numbers.parts.push_back(
        {plan, std::vector<uint64_t>(columns), std::vector<uint64_t>(columns * sets, random_() >> Below(64))});
  }
  for (RotationPart& part : numbers.parts) {
    for (uint64_t& cycles : part.enabled) cycles += SomeCount();
    for (uint64_t& cycles : part.running) cycles += SomeCount();
  }
  if (!numbers.parts.empty()) numbers.events.resize(now_.layout.events.size());
  for (EventEstimate& event : numbers.events) {
    event.estimate += SomeCount();
    event.upper = OneIn(9) ? kUnknownNumber : event.upper + SomeCount();
    event.deviation = OneIn(9) ? kUnknownNumber : SomeCount();
  }
}

void RandomSnapshots::ChangeTopology() {
  const auto vm = static_cast<uint16_t>(Below(1 + kVms));
  // The device's own block stays; the contexts of VM 0 are host blocks.
  const bool is_of_vm = vm != kHypervisorVm && OneIn(3);
  const uint16_t context = is_of_vm ? kNoContext : static_cast<uint16_t>(Below(kContexts));
  if (OneIn(3)) {
    blocks_.erase({vm, context});
    return;
  }
  Block& block = blocks_[{vm, context}];
  block = {.header = {.vm = vm, .context = context, .generation = Below(3)}, .counters = {}};
  block.counters.resize(counters_);
}

std::vector<uint64_t> RandomSnapshots::SomeCounts() {
  std::vector<uint64_t> counts(counters_);
  for (uint64_t& count : counts) count = OneIn(4) ? 0 : random_() >> Below(64);
  return counts;
}

void RandomSnapshots::Count(Block& block, const std::vector<uint64_t>& more) {
  for (uint32_t c = 0; c < counters_; ++c) block.counters[c] += more[c];
  block.header.state = static_cast<BlockState>(Below(3));
  block.header.flags |= OneIn(5) ? 1 << Below(4) : 0;
  if (with_rotation_ && OneIn(9)) block.header.flags |= kFlagRotationInconsistent;
  block.header.trigger_id = now_.trigger_id - Below(3);
  block.header.reference_time_ns = now_.reference_time_ns - Below(1000);
  ++block.header.sequence;
  Rotate(block.rotation);
}

Snapshot RandomSnapshots::Next() {
  ++now_.snapshot_id;
  now_.trigger_id += Below(10);
  now_.reference_time_ns += Below(1'000'000'000);
  while (OneIn(2)) ChangeTopology();
  if (with_rotation_ && OneIn(9)) ChangeLayout();
  for (auto& [scope, block] : blocks_) {
    if (OneIn(2)) continue;
    const std::vector<uint64_t> more = SomeCounts();
    Count(block, more);
    const auto vm = blocks_.find({scope.first, kNoContext});
    if (scope.second != kNoContext && vm != blocks_.end()) Count(vm->second, more);
    if (scope.first != kHypervisorVm && !IsPrivate(scope.first)) Count(blocks_.at({kHypervisorVm, kNoContext}), more);
  }
  now_.blocks.clear();
  now_.counters.clear();
  now_.rotation.clear();
  for (const auto& [scope, block] : blocks_) {
    now_.blocks.push_back(block.header);
    now_.counters.insert(now_.counters.end(), block.counters.begin(), block.counters.end());
    if (with_rotation_) now_.rotation.push_back(block.rotation);
  }
  return now_;
}

}  // namespace sideband::mailbox
