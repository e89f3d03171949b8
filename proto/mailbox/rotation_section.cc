// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/rotation_section.h"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/blocks.h"
#include "proto/mailbox/counting.h"
#include "proto/mailbox/stream.h"

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

// The same as TimeOf of the catalogue's plans, except for the device's own block: a layout does not tell the scopes of
// plans, and a guess needs no more.
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

// The column as it was; grown as the block's parts have grown; and as the column of all gates has grown.
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

// Estimates grow by the counted, scaled to the time in which it could have been; or as the block's parts have grown.
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

// The missed part of an event grows with the time in which it was not counted.
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

namespace {

constexpr uint32_t kNumberBits = 64;
constexpr uint32_t kEventBits = 16;
constexpr uint32_t kGroupBits = 8;
constexpr uint32_t kPlanBits = 16;
constexpr uint32_t kCountBits = 8;  // of parts, plans, columns, sets

// Steps of all sums: less than a second's work.
constexpr size_t kStepsMax = 16 * kCountersMax;

absl::Status MalformedNumbers(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("snapshot: rotation: ", what));
}

// The bits that tell one of `guesses` guesses.
uint32_t ChoiceBits(size_t guesses) { return static_cast<uint32_t>(std::bit_width(guesses - 1)); }

size_t NumbersIn(const BlockRotation& numbers) {
  size_t size = 3 * numbers.events.size();
  for (const RotationPart& part : numbers.parts) size += part.enabled.size() + part.running.size();
  return size;
}

// The sum of an event's times takes so many steps.
size_t SetsIn(const BlockRotation& numbers) {
  size_t sets = numbers.parts.size();
  for (const RotationPart& part : numbers.parts) sets += part.running.size() / part.enabled.size();
  return sets;
}

bool SameShape(const BlockRotation& a, const BlockRotation& b) {
  return a.events.size() == b.events.size() &&
         std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end(),
                    [](const RotationPart& x, const RotationPart& y) {
                      return x.plan == y.plan && x.enabled.size() == y.enabled.size() &&
                             x.running.size() == y.running.size();
                    });
}

BlockRotation ShapeOf(const BlockRotation& numbers) {
  BlockRotation shape;
  shape.events.resize(numbers.events.size());
  for (const RotationPart& part : numbers.parts) {
    shape.parts.push_back({.plan = part.plan,
                           .enabled = std::vector<uint64_t>(part.enabled.size()),
                           .running = std::vector<uint64_t>(part.running.size())});
  }
  return shape;
}

using Field = uint64_t EventEstimate::*;
constexpr Field kFields[] = {&EventEstimate::estimate, &EventEstimate::upper, &EventEstimate::deviation};

RotationRow RowOf(const BlockRotation& numbers, Field field) {
  RotationRow row;
  for (const EventEstimate& event : numbers.events) row.push_back(event.*field);
  return row;
}

void SetRow(const RotationRow& row, Field field, BlockRotation& numbers) {
  for (size_t i = 0; i < row.size(); ++i) numbers.events[i].*field = row[i];
}

Guesses GuessesOf(const RotationPrediction& predictions, size_t block,
                  const std::vector<RotationPrediction::Times>& times, Field field) {
  if (field == &EventEstimate::estimate) return predictions.OfEstimates(block, times);
  return field == &EventEstimate::upper ? predictions.OfUppers(block, times) : predictions.OfDeviations(block, times);
}

// Codes the rows of a block in their order: `code` writes a row, or reads it in place.
template <typename Code>
void ForEachRow(const RotationPrediction& predictions, size_t block, BlockRotation& numbers, const Code& code) {
  for (size_t p = 0; p < numbers.parts.size(); ++p) {
    RotationPart& part = numbers.parts[p];
    for (size_t column = 0; column < part.enabled.size(); ++column) {
      RotationRow row = ColumnOf(part, column);
      code(predictions.OfColumn(block, numbers, p, column), row);
      SetColumn(row, column, part);
    }
  }
  const auto times = predictions.TimesOf(block, numbers);
  for (const Field field : kFields) {
    RotationRow row = RowOf(numbers, field);
    code(GuessesOf(predictions, block, times, field), row);
    SetRow(row, field, numbers);
  }
}

class RotationEncoder {
 public:
  RotationEncoder(const Snapshot& snapshot, const Snapshot* base, const std::set<uint16_t>& whole)
      : snapshot_(snapshot), base_(base), whole_(whole), predictions_(snapshot, base) {}

  Bytes Encode() && {
    WriteLayout();
    for (const size_t block : predictions_.order()) WriteBlock(block);
    return std::move(out_).Take();
  }

 private:
  void WriteLayout() {
    const RotationLayout& layout = snapshot_.layout;
    const bool same = layout == (base_ == nullptr ? RotationLayout{} : base_->layout);
    out_.Bit(same);
    if (same) return;
    out_.Bits(layout.events.size(), kEventBits);
    for (const RotationLayout::Event& event : layout.events) {
      out_.Bits(event.event, kEventBits);
      out_.Bits(event.gate_group, kGroupBits);
    }
    out_.Bits(layout.plans.size(), kCountBits);
    for (const RotationLayout::Plan& plan : layout.plans) {
      out_.Bits(plan.number, kPlanBits);
      EncodeCounters(plan.sets_of, {}, Forms::kProportional, out_);
    }
  }

  void WriteBlock(size_t block) {
    BlockRotation numbers = snapshot_.rotation[block];
    const bool whole = IsWrittenWhole(snapshot_.blocks[block], whole_);
    const bool changed = whole || numbers != predictions_.BaseOf(block);
    out_.Bit(changed);
    if (!changed) return;
    out_.Bit(whole);
    if (whole) return WriteWhole(numbers);
    WriteShape(numbers, SameShape(numbers, predictions_.BaseOf(block)));
    ForEachRow(predictions_, block, numbers, [this](const Guesses& guesses, RotationRow& row) { Write(guesses, row); });
    predictions_.Add(block, numbers);
  }

  void WriteShape(const BlockRotation& numbers, bool same) {
    out_.Bit(same);
    if (same) return;
    out_.Bit(!numbers.events.empty());
    out_.Bits(numbers.parts.size(), kCountBits);
    for (const RotationPart& part : numbers.parts) {
      out_.Bits(part.plan, kPlanBits);
      out_.Bits(part.enabled.size(), kCountBits);
      out_.Bits(part.running.size() / part.enabled.size(), kCountBits);
    }
  }

  void WriteWhole(BlockRotation& numbers) {
    WriteShape(numbers, /*same=*/false);
    for (const RotationPart& part : numbers.parts) {
      for (const uint64_t number : part.enabled) out_.Bits(number, kNumberBits);
      for (const uint64_t number : part.running) out_.Bits(number, kNumberBits);
    }
    for (const EventEstimate& event : numbers.events) {
      for (const Field field : kFields) out_.Bits(event.*field, kNumberBits);
    }
  }

  static RotationRow Differences(const Guess& guess, const RotationRow& row) {
    RotationRow differences;
    for (size_t i = 0; i < row.size(); ++i) {
      const uint64_t difference = row[i] - guess.values[i];
      differences.push_back(guess.ascends ? difference : WithSign(difference));
    }
    return differences;
  }

  // From the guess that takes the fewest bits.
  void Write(const Guesses& guesses, const RotationRow& row) {
    size_t best = 0, best_bits = 0;
    for (size_t i = 0; i < guesses.size(); ++i) {
      const size_t bits = CountersBits(Differences(guesses[i], row), guesses[i].scale, Forms::kProportional);
      if (i > 0 && bits >= best_bits) continue;
      best = i;
      best_bits = bits;
    }
    out_.Bits(best, ChoiceBits(guesses.size()));
    EncodeCounters(Differences(guesses[best], row), guesses[best].scale, Forms::kProportional, out_);
  }

  const Snapshot& snapshot_;
  const Snapshot* const base_;
  const std::set<uint16_t>& whole_;  // VMs
  RotationPrediction predictions_;
  BitWriter out_;
};

class RotationDecoder {
 public:
  RotationDecoder(ByteSpan bits, const Snapshot* base, Snapshot& snapshot)
      : in_(bits), base_(base), snapshot_(snapshot) {}

  absl::Status Decode() && {
    if (snapshot_.blocks.empty()) return MalformedNumbers("numbers of no blocks");
    SIDEBAND_RETURN_IF_ERROR(ReadLayout());
    snapshot_.rotation.resize(snapshot_.blocks.size());
    RotationPrediction predictions(snapshot_, base_);
    for (const size_t block : predictions.order()) SIDEBAND_RETURN_IF_ERROR(ReadBlock(block, predictions));
    // Checked once: a truncated input reads as zeros, and the memory is bounded beside it.
    if (!in_.ok()) return MalformedNumbers("truncated");
    return in_.AtEnd() ? absl::OkStatus() : MalformedNumbers("bits after the end");
  }

 private:
  absl::Status ReadLayout() {
    if (in_.Bit()) {
      if (base_ != nullptr) snapshot_.layout = base_->layout;
      return absl::OkStatus();
    }
    SIDEBAND_RETURN_IF_ERROR(ReadEvents(snapshot_.layout));
    const size_t plans = in_.Bits(kCountBits);
    if (plans > kPlansMax) return MalformedNumbers("too many plans");
    for (size_t i = 0; i < plans; ++i) SIDEBAND_RETURN_IF_ERROR(ReadPlan(snapshot_.layout));
    return absl::OkStatus();
  }

  absl::Status ReadEvents(RotationLayout& layout) {
    const size_t events = in_.Bits(kEventBits);
    if (events > snapshot_.counters_per_block) return MalformedNumbers("more events than there are");
    for (size_t i = 0; i < events; ++i) {
      const auto event = static_cast<uint16_t>(in_.Bits(kEventBits));
      const auto group = static_cast<uint8_t>(in_.Bits(kGroupBits));
      if (event >= snapshot_.counters_per_block) return MalformedNumbers("an event does not exist");
      if (!layout.events.empty() && event <= layout.events.back().event)
        return MalformedNumbers("events do not ascend");
      if (group != kNoGateGroup && group >= kGateGroupsMax) return MalformedNumbers("a gate group does not exist");
      layout.events.push_back({event, group});
    }
    return absl::OkStatus();
  }

  absl::Status ReadPlan(RotationLayout& layout) {
    RotationLayout::Plan plan{.number = static_cast<uint16_t>(in_.Bits(kPlanBits))};
    if (!layout.plans.empty() && plan.number <= layout.plans.back().number)
      return MalformedNumbers("plans do not ascend");
    plan.sets_of.resize(layout.events.size());
    if (!DecodeCounters(in_, {}, Forms::kProportional, plan.sets_of)) return MalformedNumbers("an impossible form");
    layout.plans.push_back(std::move(plan));
    return absl::OkStatus();
  }

  absl::Status ReadBlock(size_t block, RotationPrediction& predictions) {
    BlockRotation& numbers = snapshot_.rotation[block];
    if (!in_.Bit()) {
      numbers = predictions.BaseOf(block);
      return Take(numbers);
    }
    if (in_.Bit()) return ReadWhole(numbers);
    if (in_.Bit()) {
      numbers = ShapeOf(predictions.BaseOf(block));
      SIDEBAND_RETURN_IF_ERROR(Take(numbers));
    } else {
      SIDEBAND_RETURN_IF_ERROR(ReadShape(numbers));
    }
    ForEachRow(predictions, block, numbers, [this](const Guesses& guesses, RotationRow& row) { Read(guesses, row); });
    predictions.Add(block, numbers);
    return is_possible_ ? absl::OkStatus() : MalformedNumbers("an impossible form");
  }

  absl::Status ReadShape(BlockRotation& numbers) {
    numbers.events.resize(in_.Bit() ? snapshot_.layout.events.size() : 0);
    const size_t parts = in_.Bits(kCountBits);
    if (parts > kPlansMax) return MalformedNumbers("too many parts");
    for (size_t i = 0; i < parts; ++i) {
      const auto plan = static_cast<uint16_t>(in_.Bits(kPlanBits));
      const size_t columns = in_.Bits(kCountBits), sets = in_.Bits(kCountBits);
      if (columns == 0 || columns > 1 + kGateGroupsMax) return MalformedNumbers("impossible gate groups");
      if (sets > kRotationSetsMax) return MalformedNumbers("too many counter sets");
      if (!numbers.parts.empty() && plan <= numbers.parts.back().plan) return MalformedNumbers("parts do not ascend");
      numbers.parts.push_back(
          {.plan = plan, .enabled = std::vector<uint64_t>(columns), .running = std::vector<uint64_t>(columns * sets)});
    }
    return Take(numbers);
  }

  // Bounds memory and work; a block's events are those of the layout, also if the block is as it was.
  absl::Status Take(const BlockRotation& numbers) {
    if (!numbers.events.empty() && numbers.events.size() != snapshot_.layout.events.size()) {
      return MalformedNumbers("events that do not exist");
    }
    numbers_ += NumbersIn(numbers);
    steps_ += numbers.events.size() * SetsIn(numbers);
    return numbers_ <= kCountersMax && steps_ <= kStepsMax ? absl::OkStatus() : MalformedNumbers("too large");
  }

  absl::Status ReadWhole(BlockRotation& numbers) {
    if (in_.Bit()) return MalformedNumbers("numbers without sizes");
    SIDEBAND_RETURN_IF_ERROR(ReadShape(numbers));
    for (RotationPart& part : numbers.parts) {
      for (uint64_t& number : part.enabled) number = in_.Bits(kNumberBits);
      for (uint64_t& number : part.running) number = in_.Bits(kNumberBits);
    }
    for (EventEstimate& event : numbers.events) {
      for (const Field field : kFields) event.*field = in_.Bits(kNumberBits);
    }
    return absl::OkStatus();
  }

  void Read(const Guesses& guesses, RotationRow& row) {
    const size_t choice = in_.Bits(ChoiceBits(guesses.size()));
    is_possible_ = is_possible_ && choice < guesses.size();
    if (!is_possible_) return;
    const Guess& guess = guesses[choice];
    is_possible_ = DecodeCounters(in_, guess.scale, Forms::kProportional, row);
    for (size_t i = 0; i < row.size(); ++i) row[i] = guess.values[i] + (guess.ascends ? row[i] : WithoutSign(row[i]));
  }

  BitReader in_;
  const Snapshot* const base_;
  Snapshot& snapshot_;
  size_t numbers_ = 0, steps_ = 0;
  bool is_possible_ = true;
};

}  // namespace

Bytes EncodeRotation(const Snapshot& snapshot, const Snapshot* base, const std::set<uint16_t>& whole) {
  return RotationEncoder(snapshot, base, whole).Encode();
}

absl::Status DecodeRotation(ByteSpan bits, const Snapshot* base, Snapshot& snapshot) {
  return RotationDecoder(bits, base, snapshot).Decode();
}

}  // namespace sideband::mailbox
