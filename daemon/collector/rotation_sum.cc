// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/rotation_sum.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace sideband::daemon {
namespace {

using mailbox::BlockRotation;
using mailbox::EventEstimate;
using mailbox::kForgottenPlan;
using mailbox::kUnknownNumber;
using mailbox::RotationPart;

// A number that a faulty device lets fall adds nothing.
uint64_t Gain(uint64_t base, uint64_t now) { return now - std::min(base, now); }

void AddGains(const std::vector<uint64_t>& base, const std::vector<uint64_t>& now, std::vector<uint64_t>& sums) {
  if (sums.size() < now.size()) sums.resize(now.size());
  for (size_t i = 0; i < now.size(); ++i) sums[i] += Gain(i < base.size() ? base[i] : 0, now[i]);
}

const RotationPart* FindPart(const BlockRotation& numbers, uint16_t plan) {
  const auto found = std::ranges::find(numbers.parts, plan, &RotationPart::plan);
  return found == numbers.parts.end() ? nullptr : &*found;
}

// The parts are ascending.
RotationPart& PartOf(BlockRotation& numbers, uint16_t plan) {
  const auto at = std::ranges::lower_bound(numbers.parts, plan, {}, &RotationPart::plan);
  if (at != numbers.parts.end() && at->plan == plan) return *at;
  return *numbers.parts.insert(at, {.plan = plan});
}

// As a device does where it forgets a plan: what was enabled stays known, but not of which sets.
void Forget(uint16_t plan, BlockRotation& numbers) {
  const auto part = std::ranges::find(numbers.parts, plan, &RotationPart::plan);
  const std::vector<uint64_t> enabled = part->enabled;
  numbers.parts.erase(part);
  AddGains({}, enabled, PartOf(numbers, kForgottenPlan).enabled);
}

template <typename IsToGo>
void ForgetIf(IsToGo is_to_go, BlockRotation& numbers) {
  std::vector<uint16_t> plans;
  for (const RotationPart& part : numbers.parts) {
    if (part.plan != kForgottenPlan && is_to_go(part.plan)) plans.push_back(part.plan);
  }
  for (const uint16_t plan : plans) Forget(plan, numbers);
}

// NaN: unknown.
double SquareOf(const EventEstimate& numbers, uint64_t counted) {
  if (numbers.deviation != kUnknownNumber) return std::pow(static_cast<double>(numbers.deviation), 2);
  if (numbers.upper == kUnknownNumber) return std::numeric_limits<double>::quiet_NaN();
  // No number between two bounds varies by more than half of their distance.
  return std::pow(static_cast<double>(Gain(counted, numbers.upper)) / 2, 2);
}

uint64_t RootOf(double square) {
  const double root = std::ceil(std::sqrt(std::max(square, 0.0)));
  // Also of NaN.
  return root < static_cast<double>(kUnknownNumber) ? static_cast<uint64_t>(root) : kUnknownNumber;
}

}  // namespace

RotationSum::RotationSum(const Rotation& rotation, const BlockRotation& before, std::vector<double> squares)
    : rotation_(rotation), numbers_(before), squares_(std::move(squares)) {
  numbers_.events.resize(std::max(numbers_.events.size(), rotation.events()));
  squares_.resize(numbers_.events.size());
  ForgetIf([&](uint16_t plan) { return !rotation.IsKnown(plan); }, numbers_);
}

void RotationSum::AddTimes(BlockRotation base, const BlockRotation& now) {
  static const RotationPart kNone;
  // What the device has moved from one part to another is no gain.
  ForgetIf([&](uint16_t plan) { return FindPart(now, plan) == nullptr; }, base);
  for (const RotationPart& part : now.parts) {
    const RotationPart* const before = FindPart(base, part.plan);
    const RotationPart& from = before == nullptr ? kNone : *before;
    RotationPart& sum = PartOf(numbers_, part.plan);
    AddGains(from.enabled, part.enabled, sum.enabled);
    AddGains(from.running, part.running, sum.running);
  }
}

void RotationSum::AddEvent(size_t event, const Row& base, const Row& now) {
  const EventEstimate* const found = rotation_.Find(now.numbers, event);
  if (found == nullptr) return;
  const EventEstimate* const earlier = rotation_.Find(base.numbers, event);
  const EventEstimate from = earlier == nullptr ? EventEstimate{} : *earlier;
  const size_t place = rotation_.PlaceOf(event);
  EventEstimate& sum = numbers_.events[place];
  sum.estimate += Gain(from.estimate, found->estimate);
  const bool is_bounded = sum.upper != kUnknownNumber && found->upper != kUnknownNumber;
  sum.upper = is_bounded ? sum.upper + Gain(from.upper, found->upper) : kUnknownNumber;
  const double before =
      earlier == nullptr ? 0 : SquareOf(from, event < base.counters.size() ? base.counters[event] : 0);
  squares_[place] += SquareOf(*found, now.counters[event]) - before;
  sum.deviation = RootOf(squares_[place]);
}

void RotationSum::Add(const Row& base, const Row& now) {
  AddTimes({.parts = base.numbers.parts, .events = {}}, now.numbers);
  for (size_t event = 0; event < now.counters.size(); ++event) {
    if (rotation_.IsRotated(event)) AddEvent(event, base, now);
  }
}

}  // namespace sideband::daemon
