// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/signal_probes.h"

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

bool IsSpread(const Probe& probe) {
  return !probe.position && (probe.op == EventOp::kPopcount || probe.op == EventOp::kValue);
}

bool LevelOf(const Probe& probe, std::span<const uint64_t> words) {
  if (!probe.position) return Level(probe, words);
  const uint64_t selected = BitAt(words, *probe.position) ? 1 : 0;
  return Level(probe, {&selected, 1});
}

uint64_t SetBits(std::span<const uint64_t> words) {
  uint64_t count = 0;
  for (const uint64_t word : words) count += static_cast<uint64_t>(std::popcount(word));
  return count;
}

// Sets the wires from `first` on to the bits of `word` that differ from `before`.
void FollowWord(uint64_t word, uint64_t before, size_t domain, WireId first, TraceWriter& writer) {
  for (uint64_t changed = word ^ before; changed != 0; changed &= changed - 1) {
    const auto position = static_cast<uint32_t>(std::countr_zero(changed));
    writer.Set(domain, first + position, (word >> position & 1) != 0);
  }
}

}  // namespace

uint32_t WiresOf(const Probe& probe, uint32_t width) {
  if (!IsSpread(probe)) return 1;
  const bool counts = probe.op == EventOp::kPopcount && probe.prescaled;
  return counts ? static_cast<uint32_t>(std::bit_width(width)) : width;
}

SignalProbes::SignalProbes(const std::vector<uint32_t>& widths) {
  uint32_t words = 0;
  for (const uint32_t width : widths) {
    signals_.push_back({.width = width, .first_word = words, .word_count = (width + 63) / 64, .probes = {}});
    words += signals_.back().word_count;
  }
  latest_.resize(words);
  committed_.resize(words);
}

void SignalProbes::Start(TraceWriter& writer) const {
  for (const Signal& signal : signals_) {
    for (const Probe& probe : signal.probes) {
      // The wires of a number start at 0, like the signals.
      if (!IsSpread(probe)) writer.Set(probe.domain, probe.first_wire, LevelOf(probe, Words(committed_, signal)));
    }
  }
}

void SignalProbes::Set(uint32_t slot, const VcdValue& value) {
  Signal& signal = signals_[slot];
  const auto words = latest_.begin() + signal.first_word;
  const auto rest = std::copy(value.words().begin(), value.words().end(), words);
  std::fill(rest, words + signal.word_count, 0);
  MarkDirty(slot, signal);
}

void SignalProbes::Commit(TraceWriter& writer) {
  for (const uint32_t slot : dirty_) CommitSignal(signals_[slot], writer);
  dirty_.clear();
}

void SignalProbes::CommitSignal(Signal& signal, TraceWriter& writer) {
  signal.dirty = false;
  const std::span<const uint64_t> words = Words(latest_, signal);
  const auto committed = committed_.begin() + signal.first_word;
  if (std::equal(words.begin(), words.end(), committed)) return;
  for (const Probe& probe : signal.probes) Follow(signal, probe, writer);
  std::copy(words.begin(), words.end(), committed);
}

void SignalProbes::Follow(const Signal& signal, const Probe& probe, TraceWriter& writer) const {
  const std::span<const uint64_t> words = Words(latest_, signal);
  if (!IsSpread(probe)) {
    writer.Set(probe.domain, probe.first_wire, LevelOf(probe, words));
  } else if (probe.op == EventOp::kPopcount && probe.prescaled) {
    FollowWord(SetBits(words), SetBits(Words(committed_, signal)), probe.domain, probe.first_wire, writer);
  } else {
    FollowEachBit(signal, probe, writer);
  }
}

void SignalProbes::FollowEachBit(const Signal& signal, const Probe& probe, TraceWriter& writer) const {
  const std::span<const uint64_t> words = Words(latest_, signal);
  const std::span<const uint64_t> before = Words(committed_, signal);
  for (size_t i = 0; i < words.size(); ++i) {
    FollowWord(words[i], before[i], probe.domain, probe.first_wire + static_cast<uint32_t>(i * 64), writer);
  }
}

}  // namespace sideband::sim
