// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/rotation_numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sideband::mcu {
namespace {

// A context that was never shown has no numbers before.
void AddDifferences(std::span<const uint64_t> before, std::span<const uint64_t> now, std::vector<uint64_t>& sums) {
  sums.resize(std::max(sums.size(), now.size()));
  for (size_t i = 0; i < now.size(); ++i) sums[i] += now[i] - (i < before.size() ? before[i] : 0);
}

// Per line, of the plan's set that ran least of those that ran: each event of these ran as long.
std::vector<uint64_t> LeastRunning(const mailbox::RotationPart& part) {
  const size_t lines = part.enabled.size();
  std::vector<uint64_t> least(lines);
  for (size_t i = 0; i < part.running.size(); ++i) {
    uint64_t& of_line = least[i % lines];
    if (part.running[i] > 0) of_line = of_line == 0 ? part.running[i] : std::min(of_line, part.running[i]);
  }
  return least;
}

uint64_t AddBound(uint64_t before, uint64_t now, uint64_t sum) {
  const bool is_bounded = now != mailbox::kUnknownNumber && sum != mailbox::kUnknownNumber;
  return is_bounded ? sum + (now - before) : mailbox::kUnknownNumber;
}

uint64_t DeviationOf(const absl::uint128& variance) {
  const double root = std::ceil(std::sqrt(static_cast<double>(variance)));
  return root >= std::ldexp(1.0, 64) ? mailbox::kUnknownNumber : static_cast<uint64_t>(root);
}

}  // namespace

void RotationNumbers::Add(BlockId block, uint32_t generation, uint16_t plan, const LeafNumbers& before,
                          const LeafNumbers& now, std::span<const size_t> indices) {
  Row& row = rows_[block];
  if (row.generation != generation) row = {.generation = generation, .parts = {}, .events = {}};
  row.events.resize(events_);
  mailbox::RotationPart& part = row.parts[plan];
  part.plan = plan;
  AddDifferences(before.enabled, now.enabled, part.enabled);
  AddDifferences(before.running, now.running, part.running);
  for (size_t i = 0; i < now.events.size(); ++i) {
    const LeafNumbers::Event old = i < before.events.size() ? before.events[i] : LeafNumbers::Event{};
    LeafNumbers::Event& sum = row.events[indices[i]];
    sum.estimate += now.events[i].estimate - old.estimate;
    sum.upper = AddBound(old.upper, now.events[i].upper, sum.upper);
    sum.variance += now.events[i].variance - old.variance;
  }
}

void RotationNumbers::Forget(uint16_t plan) {
  for (auto& [block, row] : rows_) {
    const auto part = row.parts.extract(plan);
    if (part.empty()) continue;
    mailbox::RotationPart& forgotten = row.parts[mailbox::kForgottenPlan];
    forgotten.plan = mailbox::kForgottenPlan;
    AddDifferences({}, part.mapped().enabled, forgotten.enabled);
    AddDifferences({}, LeastRunning(part.mapped()), forgotten.running);
  }
}

mailbox::BlockRotation RotationNumbers::Of(BlockId block, uint32_t generation) const {
  mailbox::BlockRotation numbers;
  const auto row = rows_.find(block);
  if (row == rows_.end() || row->second.generation != generation) return numbers;
  for (const auto& [plan, part] : row->second.parts) numbers.parts.push_back(part);
  for (const LeafNumbers::Event& event : row->second.events) {
    const bool is_bounded = event.upper != mailbox::kUnknownNumber;
    numbers.events.push_back({.estimate = event.estimate,
                              .upper = event.upper,
                              .deviation = is_bounded ? DeviationOf(event.variance) : mailbox::kUnknownNumber});
  }
  return numbers;
}

}  // namespace sideband::mcu
