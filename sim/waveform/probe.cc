// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/probe.h"

#include <algorithm>
#include <bit>

namespace sideband::sim {
namespace {

bool BitAt(std::span<const uint64_t> words, uint32_t position) {
  return (words[position / 64] >> position % 64 & 1) != 0;
}

bool AnyBit(std::span<const uint64_t> words) {
  return std::any_of(words.begin(), words.end(), [](uint64_t word) { return word != 0; });
}

// The level of an event's only wire: `bits` is the signal, or the selected bit alone.
bool Level(const Probe& probe, std::span<const uint64_t> bits) {
  switch (probe.op) {
    case EventOp::kLow:
      return !AnyBit(bits);
    case EventOp::kEquals:
      return bits[0] == probe.value && !AnyBit(bits.subspan(1));
    default:
      return AnyBit(bits);
  }
}

}  // namespace

bool IsSpread(const Probe& probe) {
  return !probe.position && (probe.op == EventOp::kPopcount || probe.op == EventOp::kValue);
}

bool LevelOf(const Probe& probe, std::span<const uint64_t> signal) {
  if (!probe.position) return Level(probe, signal);
  const uint64_t selected = BitAt(signal, *probe.position) ? 1 : 0;
  return Level(probe, {&selected, 1});
}

uint64_t SetBits(std::span<const uint64_t> words) {
  uint64_t count = 0;
  for (const uint64_t word : words) count += static_cast<uint64_t>(std::popcount(word));
  return count;
}

uint32_t WiresOf(const Probe& probe, uint32_t width) {
  if (!IsSpread(probe)) return 1;
  const bool counts = probe.op == EventOp::kPopcount && probe.prescaled;
  return counts ? static_cast<uint32_t>(std::bit_width(width)) : width;
}

TaggedProbe::TaggedProbe(const Probe& probe, uint32_t width, uint32_t slices)
    : probe_(probe),
      wires_(WiresOf(probe, width)),
      none_(slices),
      requester_(slices),
      levels_((wires_ + 63) / 64),
      shown_(levels_.size()) {}

void TaggedProbe::Follow(std::span<const uint64_t> signal, std::optional<uint32_t> slice, TraceWriter& writer) {
  ReadLevels(signal);
  const uint32_t requester = slice.value_or(none_);
  if (requester != requester_) {
    Hide(writer);
    requester_ = requester;
  }
  SetWires(levels_, writer);
}

void TaggedProbe::Hide(TraceWriter& writer) { SetWires(std::vector<uint64_t>(levels_.size()), writer); }

void TaggedProbe::ReadLevels(std::span<const uint64_t> signal) {
  if (!IsSpread(probe_)) {
    levels_[0] = LevelOf(probe_, signal) ? 1 : 0;
  } else if (probe_.op == EventOp::kPopcount && probe_.prescaled) {
    levels_[0] = SetBits(signal);
  } else {
    std::ranges::copy(signal, levels_.begin());
  }
}

void TaggedProbe::SetWires(std::span<const uint64_t> levels, TraceWriter& writer) {
  for (size_t i = 0; i < levels.size(); ++i) {
    const WireId first = probe_.first_wire + requester_ * wires_ + static_cast<uint32_t>(i * 64);
    for (uint64_t changed = levels[i] ^ shown_[i]; changed != 0; changed &= changed - 1) {
      const auto position = static_cast<uint32_t>(std::countr_zero(changed));
      writer.Set(probe_.domain, first + position, (levels[i] >> position & 1) != 0);
    }
    shown_[i] = levels[i];
  }
}

}  // namespace sideband::sim
