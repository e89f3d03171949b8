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

}  // namespace sideband::sim
