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
#include "proto/mailbox/bit_stream.h"
#include "proto/mailbox/block_encoder.h"
#include "proto/mailbox/counter_groups.h"
#include "proto/mailbox/gate_controls.h"
#include "proto/mailbox/rotation_prediction.h"

namespace sideband::mailbox {
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

// What the sum of an event's times takes.
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
