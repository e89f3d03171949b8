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

// The wire of an event that has one: `bits` is the signal, or the selected bit alone.
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

}  // namespace

SignalProbes::SignalProbes(const std::vector<uint32_t>& widths) {
  size_t words = 0;
  for (const uint32_t width : widths) {
    signals_.push_back({.width = width, .first_word = words, .word_count = (width + size_t{63}) / 64, .probes = {}});
    words += signals_.back().word_count;
  }
  latest_.resize(words);
  committed_.resize(words);
}

void SignalProbes::Start(ChunkWriter& writer) const {
  for (const Signal& signal : signals_) {
    const std::span<const uint64_t> words(committed_.data() + signal.first_word, signal.word_count);
    for (const Probe& probe : signal.probes) {
      if (!IsSpread(probe)) writer.Set(probe.first_wire, LevelOf(probe, words), 0);
    }
  }
}

void SignalProbes::Set(uint32_t slot, const VcdValue& value) {
  Signal& signal = signals_[slot];
  const auto words = latest_.begin() + static_cast<ptrdiff_t>(signal.first_word);
  const auto rest = std::copy(value.words().begin(), value.words().end(), words);
  std::fill(rest, words + static_cast<ptrdiff_t>(signal.word_count), 0);
  if (signal.dirty) return;
  signal.dirty = true;
  dirty_.push_back(slot);
}

void SignalProbes::Commit(uint64_t cycle, ChunkWriter& writer) {
  for (const uint32_t slot : dirty_) CommitSignal(signals_[slot], cycle, writer);
  dirty_.clear();
}

void SignalProbes::CommitSignal(Signal& signal, uint64_t cycle, ChunkWriter& writer) {
  signal.dirty = false;
  for (const Probe& probe : signal.probes) Follow(signal, probe, cycle, writer);
  const auto words = latest_.begin() + static_cast<ptrdiff_t>(signal.first_word);
  std::copy(words, words + static_cast<ptrdiff_t>(signal.word_count),
            committed_.begin() + static_cast<ptrdiff_t>(signal.first_word));
}

void SignalProbes::Follow(const Signal& signal, const Probe& probe, uint64_t cycle, ChunkWriter& writer) const {
  const std::span<const uint64_t> words(latest_.data() + signal.first_word, signal.word_count);
  if (!IsSpread(probe)) {
    writer.Set(probe.first_wire, LevelOf(probe, words), cycle);
    return;
  }
  for (size_t i = 0; i < words.size(); ++i) {
    for (uint64_t changed = words[i] ^ committed_[signal.first_word + i]; changed != 0; changed &= changed - 1) {
      const auto position = static_cast<uint32_t>(i * 64 + static_cast<size_t>(std::countr_zero(changed)));
      writer.Set(probe.first_wire + position, BitAt(words, position), cycle);
    }
  }
}

}  // namespace sideband::sim
