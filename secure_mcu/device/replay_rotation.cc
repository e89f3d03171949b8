// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/device/replay_rotation.h"

#include <algorithm>

namespace sideband::mcu {
namespace {

using mailbox::Counting;

std::optional<uint64_t> Known(uint64_t number) {
  return number == mailbox::kUnknownNumber ? std::nullopt : std::optional(number);
}

std::vector<std::string> NamesOf(const mailbox::EventSet& set, const CounterPlan& plan,
                                 const std::vector<std::string>& names) {
  std::vector<std::string> members;
  for (size_t event = 0; event < names.size(); ++event) {
    if (mailbox::Includes(set, event) && !mailbox::Includes(plan.fixed, event)) members.push_back(names[event]);
  }
  return members;
}

uint64_t RunningOf(const CounterPlan& plan, const std::vector<uint64_t>& running, size_t event) {
  uint64_t cycles = 0;
  for (size_t set = 0; set < plan.sets.size(); ++set) {
    if (mailbox::Includes(plan.sets[set], event)) cycles += running[set];
  }
  return cycles;
}

ReplayEstimate EstimateOf(const mailbox::EventEstimate& numbers, uint64_t counted, uint64_t running, uint64_t enabled) {
  ReplayEstimate estimate{.upper = Known(numbers.upper), .standard_error = {}, .lower = counted};
  if (running == 0) return estimate;
  estimate.estimate = numbers.estimate;
  estimate.standard_error = Known(numbers.deviation);
  estimate.coverage = static_cast<double>(running) / static_cast<double>(enabled);
  return estimate;
}

}  // namespace

bool ReplayNumbers::is_estimated() const {
  return std::ranges::any_of(events, [](const ReplayEstimate& event) { return event.estimate && event.coverage < 1; });
}

ReplayRotation RotationOf(const Chip& chip, const std::vector<std::string>& names) {
  const CounterPlan& plan = chip.rotation().turns().plans()[0].counters;
  ReplayRotation rotation;
  for (const mailbox::EventSet& set : plan.sets) rotation.sets.push_back(NamesOf(set, plan, names));
  for (size_t event = 0; event < names.size(); ++event) {
    if (mailbox::Includes(plan.fixed, event)) rotation.fixed.push_back(names[event]);
    if (plan.IsDerived(event)) rotation.derived.push_back(names[event]);
  }
  return rotation;
}

ReplayNumbers NumbersOf(const Chip& chip, BlockId block) {
  const CounterPlan& plan = chip.rotation().turns().plans()[0].counters;
  const mailbox::BlockRotation row = chip.rotation().NumbersOf(block);
  ReplayNumbers numbers{.running = std::vector<uint64_t>(plan.sets.size()), .events = {}};
  // A replay has no gates and no device units that take turns: one part, and its first line.
  if (!row.parts.empty()) {
    numbers.enabled = row.parts[0].enabled[0];
    numbers.running = row.parts[0].running;
  }
  const std::vector<uint16_t>& events = chip.rotation().turns().events();
  for (size_t i = 0; i < events.size(); ++i) {
    if (CountingOf(plan, events[i]) == Counting::kFixed) continue;
    const mailbox::EventEstimate none{.deviation = mailbox::kUnknownNumber};
    numbers.events.push_back(EstimateOf(i < row.events.size() ? row.events[i] : none,
                                        chip.memory().counters(block)[events[i]],
                                        RunningOf(plan, numbers.running, events[i]), numbers.enabled));
    numbers.events.back().event = events[i];
  }
  return numbers;
}

}  // namespace sideband::mcu
