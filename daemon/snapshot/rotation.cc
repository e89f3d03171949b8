// SPDX-License-Identifier: Apache-2.0
#include "daemon/snapshot/rotation.h"

#include <algorithm>

#include "daemon/snapshot/coverage.h"

namespace sideband::daemon {
namespace {

using mailbox::BlockRotation;
using mailbox::RotationPart;
using mailbox::RotationTime;

// In a part: all cycles come first, then those of each gate group.
size_t ColumnOf(const RotationPart& part, uint8_t gate_group) {
  const size_t column = size_t{1} + gate_group;
  return gate_group != mailbox::kNoGateGroup && column < part.enabled.size() ? column : 0;
}

uint64_t RunningOf(const RotationPart& part, size_t set, size_t column) {
  const size_t at = set * part.enabled.size() + column;
  return at < part.running.size() ? part.running[at] : 0;
}

bool IsExact(const mailbox::EventEstimate& numbers, const RotationTime& time, uint64_t counted) {
  return time.running == time.enabled && numbers.estimate == counted && numbers.upper == counted;
}

uint64_t ValueOf(const mailbox::EventEstimate& numbers, uint64_t counted) {
  // A device that contradicts itself must not show less than was counted.
  return std::max(counted, std::min(numbers.estimate, numbers.upper));
}

}  // namespace

Rotation::Rotation(const mailbox::Catalog& catalog) : turns_(catalog.events.size()) {
  for (const mailbox::RotationPlan& plan : catalog.plans) is_of_device_[plan.number] = plan.of_device;
  for (size_t i = 0; i < catalog.events.size(); ++i) {
    const mailbox::EventDetails& details = catalog.events[i].details;
    if (details.counting == mailbox::Counting::kFixed) continue;
    turns_[i].is_rotated = true;
    turns_[i].place = rotated_++;
    turns_[i].gate_group = details.gate_group;
    for (const mailbox::RotationPlan& plan : catalog.plans) {
      const bool is_random = plan.settings.profile == mailbox::RotationProfile::kFast;
      for (size_t set = 0; set < plan.sets.size(); ++set) {
        if (!mailbox::Includes(plan.sets[set], i)) continue;
        turns_[i].turns.push_back({plan.number, set, is_random});
        turns_[i].is_of_device = turns_[i].is_of_device || plan.of_device;
      }
    }
  }
}

bool Rotation::IsOfScope(uint16_t plan, const Event& event) const {
  const auto found = is_of_device_.find(plan);
  return found == is_of_device_.end() || found->second == event.is_of_device;
}

RotationTime Rotation::TimeOf(const BlockRotation& numbers, size_t event) const {
  RotationTime time;
  for (const RotationPart& part : numbers.parts) {
    if (!IsOfScope(part.plan, turns_[event])) continue;
    const size_t column = ColumnOf(part, turns_[event].gate_group);
    if (column < part.enabled.size()) time.enabled += part.enabled[column];
    for (const Turn& turn : turns_[event].turns) {
      if (turn.plan == part.plan) time.running += RunningOf(part, turn.set, column);
    }
  }
  return time;
}

EstimateMethod Rotation::MethodOf(const BlockRotation& numbers, size_t event) const {
  const bool is_random = std::ranges::all_of(turns_[event].turns, [&](const Turn& turn) {
    return turn.is_random || std::ranges::none_of(numbers.parts, [&](const auto& p) { return p.plan == turn.plan; });
  });
  return is_random ? EstimateMethod::kRandomTurns : EstimateMethod::kModel;
}

const BlockRotation* Rotation::NumbersOf(const mailbox::Snapshot& data, size_t row, size_t event) const {
  return IsRotated(event) && row < data.rotation.size() ? &data.rotation[row] : nullptr;
}

const mailbox::EventEstimate* Rotation::Find(const BlockRotation& numbers, size_t event) const {
  const size_t place = turns_[event].place;
  return place < numbers.events.size() ? &numbers.events[place] : nullptr;
}

bool Rotation::IsWhole(const mailbox::Snapshot& data, size_t row, size_t event) const {
  const BlockRotation* const numbers = NumbersOf(data, row, event);
  if (numbers == nullptr) return true;
  const RotationTime time = TimeOf(*numbers, event);
  return time.running == time.enabled;
}

double Rotation::CoverageOf(const mailbox::Snapshot& data, size_t row, size_t event) const {
  const BlockRotation* const numbers = NumbersOf(data, row, event);
  if (numbers == nullptr) return 1;
  const RotationTime time = TimeOf(*numbers, event);
  const bool is_estimable = time.running >= time.enabled || Find(*numbers, event) != nullptr;
  return is_estimable ? Coverage::OfCycles(time.running, time.enabled) : 0;
}

std::optional<Estimate> Rotation::Of(const mailbox::Snapshot& data, size_t row, size_t event) const {
  const BlockRotation* const numbers = NumbersOf(data, row, event);
  const mailbox::EventEstimate* const found = numbers == nullptr ? nullptr : Find(*numbers, event);
  if (found == nullptr) return std::nullopt;
  const uint64_t counted = data.Counters(row)[event];
  const RotationTime time = TimeOf(*numbers, event);
  if (time.running == 0 || IsExact(*found, time, counted)) return std::nullopt;
  return Estimate{.value = ValueOf(*found, counted),
                  .lower = counted,
                  .upper = found->upper,
                  .deviation = found->deviation,
                  .time = time,
                  .method = MethodOf(*numbers, event)};
}

uint64_t Rotation::Shown(const mailbox::Snapshot& data, size_t row, size_t event) const {
  const uint64_t counted = data.Counters(row)[event];
  const BlockRotation* const numbers = NumbersOf(data, row, event);
  const mailbox::EventEstimate* const found = numbers == nullptr ? nullptr : Find(*numbers, event);
  return found == nullptr ? counted : ValueOf(*found, counted);
}

mailbox::CounterValues Rotation::ShownCounters(const mailbox::Snapshot& data) const {
  if (rotated_ == 0 || data.rotation.empty()) return {};
  mailbox::CounterValues shown = data.counters;
  for (size_t row = 0; row < data.blocks.size(); ++row) {
    for (size_t event = 0; event < std::min<size_t>(turns_.size(), data.counters_per_block); ++event) {
      if (turns_[event].is_rotated) shown[row * data.counters_per_block + event] = Shown(data, row, event);
    }
  }
  return shown;
}

}  // namespace sideband::daemon
