// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/rotation_prediction.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace sideband::mailbox {
namespace {

using absl::uint128;

// Deviations from here on are left out of sums of squares, which then stay below 2^128.
constexpr uint64_t kDeviationMax = uint64_t{1} << 56;

uint64_t Clamped(uint128 value) { return value > kUnknownNumber ? kUnknownNumber : absl::Uint128Low64(value); }

// value * times / of, rounded down; 0 if it has no meaning.
uint64_t Scaled(uint64_t value, uint64_t times, uint64_t of) {
  return of == 0 ? 0 : Clamped(uint128(value) * times / of);
}

uint128 Square(uint64_t deviation) { return deviation < kDeviationMax ? uint128(deviation) * deviation : uint128(0); }

// The smallest number whose square is at least `value`: deviations are rounded up.
uint64_t RootOf(uint128 value) {
  uint128 root = 0;
  for (uint128 bit = uint128(1) << 63; bit > 0; bit >>= 1) {
    if ((root + bit) * (root + bit) <= value) root += bit;
  }
  return Clamped(root * root < value ? root + 1 : root);
}

bool SameSize(const RotationPart& a, const RotationPart& b) {
  return a.enabled.size() == b.enabled.size() && a.running.size() == b.running.size();
}

RotationPart EmptyLike(const RotationPart& part) {
  return {.plan = part.plan,
          .enabled = std::vector<uint64_t>(part.enabled.size()),
          .running = std::vector<uint64_t>(part.running.size())};
}

void Increase(std::vector<uint64_t>& sums, const std::vector<uint64_t>& now, const std::vector<uint64_t>& before) {
  for (size_t i = 0; i < sums.size(); ++i) sums[i] += now[i] - before[i];
}

void Increase(RotationRow& row, const RotationRow& by) {
  for (size_t i = 0; i < row.size(); ++i) row[i] += by[i];
}

uint64_t SetsOf(const RotationLayout& layout, uint16_t number, size_t entry) {
  const auto plan = std::lower_bound(layout.plans.begin(), layout.plans.end(), number,
                                     [](const auto& each, uint16_t wanted) { return each.number < wanted; });
  return plan == layout.plans.end() || plan->number != number ? 0 : plan->sets_of[entry];
}

// As TimeOf of the catalogue's plans, but for the device's own block: a layout does not tell the scopes of plans, and a
// guess needs no more.
RotationTime TimeOf(const BlockRotation& numbers, const RotationLayout& layout, size_t entry) {
  const uint8_t group = layout.events[entry].gate_group;
  const size_t column = group == kNoGateGroup ? 0 : size_t{1} + group;
  RotationTime time;
  for (const RotationPart& part : numbers.parts) {
    const size_t columns = part.enabled.size();
    if (column >= columns) continue;
    time.enabled += part.enabled[column];
    const uint64_t sets = SetsOf(layout, part.plan, entry);
    for (size_t set = 0; set < part.running.size() / columns && set < kRotationSetsMax; ++set) {
      if ((sets >> set & 1) != 0) time.running += part.running[set * columns + column];
    }
  }
  return time;
}

const BlockRotation kNoNumbers;

}  // namespace

RotationRow ColumnOf(const RotationPart& part, size_t column) {
  RotationRow row = {part.enabled[column]};
  for (size_t i = column; i < part.running.size(); i += part.enabled.size()) row.push_back(part.running[i]);
  return row;
}

void SetColumn(const RotationRow& row, size_t column, RotationPart& part) {
  part.enabled[column] = row[0];
  for (size_t set = 0; set + 1 < row.size(); ++set) part.running[set * part.enabled.size() + column] = row[set + 1];
}

RotationPrediction::RotationPrediction(const Snapshot& snapshot, const Snapshot* base)
    : snapshot_(snapshot),
      base_(base),
      family_(snapshot.blocks),
      bases_(snapshot.blocks, base),
      same_(base == nullptr || base->rotation.empty() ? std::vector(snapshot.blocks.size(), BlockFamily::kNone)
                                                      : SameBlocks(snapshot.blocks, base->blocks)),
      gains_(snapshot.blocks.size()) {}

const BlockRotation& RotationPrediction::BaseOf(size_t block) const {
  return same_[block] == BlockFamily::kNone ? kNoNumbers : base_->rotation[same_[block]];
}

// The base's part of the same plan; zeros if it has none of that size.
RotationPart RotationPrediction::BasePart(size_t block, const RotationPart& part) const {
  for (const RotationPart& base : BaseOf(block).parts) {
    if (base.plan == part.plan && SameSize(base, part)) return base;
  }
  return EmptyLike(part);
}

EventEstimate RotationPrediction::BaseEvent(size_t block, size_t entry) const {
  const BlockRotation& base = BaseOf(block);
  const bool is_same = !base.events.empty() && base_->layout.events == snapshot_.layout.events;
  return is_same ? base.events[entry] : EventEstimate{};
}

RotationPrediction::Gain RotationPrediction::GainOf(size_t block, size_t entry) const {
  const auto& events = gains_[block].events;
  return events.empty() ? Gain{} : events[entry];
}

uint64_t RotationPrediction::Counted(size_t block, size_t entry) const {
  return snapshot_.Counters(block)[snapshot_.layout.events[entry].event];
}

uint64_t RotationPrediction::BaseCounted(size_t block, size_t entry) const {
  return bases_.Of(block).counter(snapshot_.layout.events[entry].event);
}

std::vector<RotationPrediction::Times> RotationPrediction::TimesOf(size_t block, const BlockRotation& numbers) const {
  BlockRotation base;
  for (const RotationPart& part : numbers.parts) base.parts.push_back(BasePart(block, part));
  std::vector<Times> times;
  for (size_t entry = 0; entry < numbers.events.size(); ++entry) {
    times.push_back({TimeOf(numbers, snapshot_.layout, entry), TimeOf(base, snapshot_.layout, entry)});
  }
  return times;
}

// As it was, as the block's parts have it, and as all gates open.
Guesses RotationPrediction::OfColumn(size_t block, const BlockRotation& numbers, size_t part, size_t column) const {
  const RotationPart& now = numbers.parts[part];
  const RotationPart base_part = BasePart(block, now);
  const RotationRow base = ColumnOf(base_part, column);
  Guesses guesses = {{.values = base, .ascends = true, .scale = base}};
  Guess& sums = guesses.emplace_back(Guess{.values = base, .scale = base});
  const auto gained = gains_[block].parts.find(now.plan);
  if (gained != gains_[block].parts.end() && SameSize(gained->second, now)) {
    Increase(sums.values, ColumnOf(gained->second, column));
  }
  if (column == 0) return guesses;
  Guess& open = guesses.emplace_back(Guess{.values = base, .scale = base});
  Increase(open.values, ColumnOf(now, 0));
  const RotationRow before = ColumnOf(base_part, 0);
  for (size_t i = 0; i < before.size(); ++i) open.values[i] -= before[i];
  return guesses;
}

// Of each event: what was counted, for the time in which it could have been; and what the block's parts gained.
Guesses RotationPrediction::OfEstimates(size_t block, const std::vector<Times>& times) const {
  Guess own, sums;
  for (size_t entry = 0; entry < times.size(); ++entry) {
    const uint64_t base = BaseEvent(block, entry).estimate;
    const uint64_t counted = Counted(block, entry) - BaseCounted(block, entry);
    own.scale.push_back(Scaled(counted, times[entry].enabled(), times[entry].running()));
    own.values.push_back(base + own.scale.back());
    sums.values.push_back(base + GainOf(block, entry).estimate);
  }
  sums.scale = own.scale;
  return {std::move(own), std::move(sums)};
}

// What may have been missed grows with the time in which the event was not counted.
Guesses RotationPrediction::OfUppers(size_t block, const std::vector<Times>& times) const {
  Guess own, sums;
  for (size_t entry = 0; entry < times.size(); ++entry) {
    const RotationTime &now = times[entry].now, &before = times[entry].base;
    const uint64_t base = BaseEvent(block, entry).upper;
    const bool is_known = base != kUnknownNumber;
    const uint64_t missed =
        Scaled(base - BaseCounted(block, entry), now.enabled - now.running, before.enabled - before.running);
    const uint64_t expected = Counted(block, entry) + missed;
    own.values.push_back(is_known ? expected : base);
    own.scale.push_back(own.values.back() - base);
    sums.values.push_back(is_known ? base + GainOf(block, entry).upper : base);
  }
  sums.scale = own.scale;
  return {std::move(own), std::move(sums)};
}

// Variances add up: over equal times, and over the block's parts.
Guesses RotationPrediction::OfDeviations(size_t block, const std::vector<Times>& times) const {
  Guess own, sums;
  for (size_t entry = 0; entry < times.size(); ++entry) {
    const uint64_t base = BaseEvent(block, entry).deviation;
    const uint64_t growth = Scaled(base, times[entry].enabled(), times[entry].base.enabled) / 2;
    const Gain gain = GainOf(block, entry);
    const uint128 variance = Square(base) + gain.variance;
    const uint128 rest = variance > gain.base_variance ? variance - gain.base_variance : uint128(0);
    const bool is_known = base != kUnknownNumber;
    own.values.push_back(is_known ? base + growth : base);
    own.scale.push_back(is_known ? growth : 0);
    sums.values.push_back(is_known ? RootOf(rest) : base);
  }
  sums.scale = own.scale;
  return {std::move(own), std::move(sums)};
}

void RotationPrediction::AddPart(const RotationPart& part, const RotationPart& base, Gains& gains) const {
  const auto [sum, is_new] = gains.parts.try_emplace(part.plan, EmptyLike(part));
  if (!SameSize(sum->second, part)) return;
  Increase(sum->second.enabled, part.enabled, base.enabled);
  Increase(sum->second.running, part.running, base.running);
}

void RotationPrediction::Add(size_t block, const BlockRotation& numbers) {
  if (family_.parent(block) == BlockFamily::kNone) return;
  Gains& gains = gains_[family_.parent(block)];
  for (const RotationPart& part : numbers.parts) AddPart(part, BasePart(block, part), gains);
  if (numbers.events.empty()) return;
  gains.events.resize(numbers.events.size());
  for (size_t entry = 0; entry < numbers.events.size(); ++entry) {
    const EventEstimate& now = numbers.events[entry];
    const EventEstimate base = BaseEvent(block, entry);
    Gain& gain = gains.events[entry];
    gain.estimate += now.estimate - base.estimate;
    gain.upper += now.upper - base.upper;
    gain.variance += Square(now.deviation);
    gain.base_variance += Square(base.deviation);
  }
}

}  // namespace sideband::mailbox
