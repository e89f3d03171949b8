// SPDX-License-Identifier: Apache-2.0
#include "daemon/snapshot/rotation.h"

#include <algorithm>

#include "daemon/snapshot/coverage.h"

namespace sideband::daemon {
namespace {

using mailbox::BlockRotation;
using mailbox::RotationPlan;
using mailbox::RotationTime;

bool IsExact(const mailbox::EventEstimate& numbers, const RotationTime& time, uint64_t counted) {
  return time.running == time.enabled && numbers.estimate == counted && numbers.upper == counted;
}

uint64_t ValueOf(const mailbox::EventEstimate& numbers, uint64_t counted) {
  // A device that contradicts itself must not show less than was counted.
  return std::max(counted, std::min(numbers.estimate, numbers.upper));
}

}  // namespace

Rotation::Rotation(const mailbox::Catalog& catalog) : turns_(catalog.events.size()), plans_(catalog.plans) {
  for (size_t i = 0; i < catalog.events.size(); ++i) {
    const mailbox::EventDetails& details = catalog.events[i].details;
    if (details.counting == mailbox::Counting::kFixed) continue;
    turns_[i].is_rotated = true;
    turns_[i].place = rotated_++;
    if (details.gate_group != mailbox::kNoGateGroup) turns_[i].gate_group = details.gate_group;
  }
}

bool Rotation::IsKnown(uint16_t plan) const {
  return std::ranges::find(plans_, plan, &RotationPlan::number) != plans_.end();
}

RotationTime Rotation::TimeOf(const BlockRotation& numbers, size_t event) const {
  return mailbox::TimeOf(numbers, plans_, event, turns_[event].gate_group);
}

RotationTime Rotation::ShownTime(const BlockRotation& numbers, size_t event) const {
  RotationTime time = TimeOf(numbers, event);
  const mailbox::EventEstimate* const found = Find(numbers, event);
  if (time.running > 0 || found == nullptr || found->estimate == 0) return time;
  time.running = mailbox::ForgottenRunning(numbers, turns_[event].gate_group);
  return time;
}

EstimateMethod Rotation::MethodOf(const BlockRotation& numbers, size_t event) const {
  const bool has_model = std::ranges::any_of(plans_, [&](const RotationPlan& plan) {
    const auto includes = [event](const mailbox::EventSet& set) { return mailbox::Includes(set, event); };
    return plan.settings.profile != mailbox::RotationProfile::kFast && std::ranges::any_of(plan.sets, includes) &&
           std::ranges::find(numbers.parts, plan.number, &mailbox::RotationPart::plan) != numbers.parts.end();
  });
  return has_model ? EstimateMethod::kModel : EstimateMethod::kRandomTurns;
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
  const RotationTime time = ShownTime(*numbers, event);
  const bool is_estimable = time.running >= time.enabled || Find(*numbers, event) != nullptr;
  return is_estimable ? Coverage::OfCycles(time.running, time.enabled) : 0;
}

std::optional<Estimate> Rotation::Of(const mailbox::Snapshot& data, size_t row, size_t event) const {
  const BlockRotation* const numbers = NumbersOf(data, row, event);
  const mailbox::EventEstimate* const found = numbers == nullptr ? nullptr : Find(*numbers, event);
  if (found == nullptr) return std::nullopt;
  const uint64_t counted = data.Counters(row)[event];
  const RotationTime time = ShownTime(*numbers, event);
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
