// SPDX-License-Identifier: Apache-2.0
#include "daemon/snapshot/coverage.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace sideband::daemon {
namespace {

using mailbox::BlockRotation;
using mailbox::RotationPlan;
using mailbox::RotationTime;

double FromQ32(uint64_t value) { return std::ldexp(static_cast<double>(value), -32); }

// An event with neither is not counted on the slice.
bool IsUnknown(const mailbox::SliceRate& rate) { return rate.capacity_q32 == 0 && rate.gain_q32 != 0; }

bool IsResidentCycles(const mailbox::EventInfo& event) {
  return event.name == mailbox::kResidentCyclesEvent && event.scope == mailbox::EventScope::kContext && !event.masked;
}

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

bool IsCounted(const mailbox::EventInfo& event) {
  return event.scope == mailbox::EventScope::kContext && !event.masked;
}

bool IsExact(const mailbox::EventEstimate& numbers, const RotationTime& time, uint64_t counted) {
  return time.running == time.enabled && numbers.estimate == counted && numbers.upper == counted;
}

uint64_t ValueOf(const mailbox::EventEstimate& numbers, uint64_t counted) {
  // A device that contradicts itself must not show less than was counted.
  return std::max(counted, std::min(numbers.estimate, numbers.upper));
}

}  // namespace

Capacities::Event Capacities::Read(const mailbox::EventInfo& info, size_t slices) {
  Event event;
  if (info.masked || info.details.slices.empty()) return event;
  if (info.scope == mailbox::EventScope::kDevice) {
    event.device = FromQ32(info.details.slices[0].capacity_q32);
    event.is_known = event.device > 0;
    return event;
  }
  for (const mailbox::SliceRate& rate : info.details.slices) event.slices.push_back(FromQ32(rate.capacity_q32));
  const bool is_unknown = std::ranges::any_of(info.details.slices, IsUnknown);
  const bool is_one_for_all = event.slices.size() == 1;
  if (is_one_for_all) event.slices.resize(std::max<size_t>(slices, 1), event.slices[0]);
  const auto [least, most] = std::ranges::minmax(event.slices);
  event.is_known = most > 0;
  // A sum that lacks a slice would make the device look busier than it is.
  if (!is_unknown) event.device = std::accumulate(event.slices.begin(), event.slices.end(), 0.0);
  if (least == most) event.each_slice = least;
  return event;
}

Capacities::Capacities(const mailbox::Catalog& catalog) {
  for (const mailbox::SliceInfo& slice : catalog.slices) slice_ids_.push_back(slice.id);
  for (size_t i = 0; i < catalog.events.size(); ++i) {
    events_.push_back(Read(catalog.events[i], catalog.slices.size()));
    if (IsResidentCycles(catalog.events[i])) resident_cycles_ = i;
  }
}

size_t Capacities::PlaceOf(uint8_t slice) const {
  const auto found = std::ranges::find(slice_ids_, slice);
  return found == slice_ids_.end() ? kNowhere : static_cast<size_t>(found - slice_ids_.begin());
}

double Capacities::OfSlice(size_t event, size_t place) const {
  const std::vector<double>& slices = events_[event].slices;
  return place < slices.size() ? slices[place] : 0;
}

Coverage::Coverage(const mailbox::Catalog& catalog) {
  if (catalog.gate_groups.empty()) return;
  gates_.resize(catalog.events.size());
  for (size_t i = 0; i < catalog.events.size(); ++i) {
    const mailbox::EventInfo& event = catalog.events[i];
    if (!IsCounted(event)) continue;
    if (event.name == mailbox::kResidentCyclesEvent) resident_ = i;
    if (event.details.gate_group >= catalog.gate_groups.size()) continue;
    const size_t running = catalog.gate_groups[event.details.gate_group].running_event;
    if (running == i) continue;
    gates_[i].is_gated = true;
    if (running < catalog.events.size() && IsCounted(catalog.events[running])) gates_[i].running = running;
  }
}

std::optional<GateCycles> Coverage::CyclesOf(size_t event) const {
  if (!IsGated(event) || !gates_[event].running || !resident_) return std::nullopt;
  return GateCycles{*gates_[event].running, *resident_};
}

double Coverage::OfCycles(uint64_t running, uint64_t resident) {
  if (running > resident) return kUnknown;
  return running == 0 ? 0 : static_cast<double>(running) / static_cast<double>(resident);
}

double Coverage::OfCount(size_t event, std::span<const uint64_t> counters) const {
  if (!IsGated(event)) return 1;
  const auto cycles = CyclesOf(event);
  if (!cycles || cycles->running >= counters.size() || cycles->resident >= counters.size()) return kUnknown;
  return OfCycles(counters[cycles->running], counters[cycles->resident]);
}

double Coverage::OfRate(size_t event, std::span<const double> rates) const {
  if (!IsGated(event)) return 1;
  const auto cycles = CyclesOf(event);
  if (!cycles || cycles->running >= rates.size() || cycles->resident >= rates.size()) return kUnknown;
  const double running = rates[cycles->running], resident = rates[cycles->resident];
  // With an unknown rate (NaN) the comparisons are false.
  return resident > 0 && running <= resident ? running / resident : kUnknown;
}

bool Coverage::IsWhole(std::span<const uint64_t> counters) const {
  for (size_t event = 0; event < gates_.size(); ++event) {
    if (!gates_[event].is_gated) continue;
    const auto cycles = CyclesOf(event);
    if (!cycles || cycles->running >= counters.size() || cycles->resident >= counters.size()) return false;
    if (counters[cycles->running] != counters[cycles->resident]) return false;
  }
  return true;
}

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
