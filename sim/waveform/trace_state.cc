// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/trace_state.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

namespace sideband::sim {
namespace {

// Sets the wires from `first` on to the bits of `word` that differ from `before`.
void FollowWord(uint64_t word, uint64_t before, size_t domain, WireId first, TraceWriter& writer) {
  for (uint64_t changed = word ^ before; changed != 0; changed &= changed - 1) {
    const auto position = static_cast<uint32_t>(std::countr_zero(changed));
    writer.Set(domain, first + position, (word >> position & 1) != 0);
  }
}

// Sets the `size` bits from `offset` on, at most 64, to the lowest of `value`.
void CopyBits(uint64_t value, uint32_t size, uint32_t offset, uint64_t* words) {
  const uint64_t mask = ~uint64_t{0} >> (64 - size);
  const uint32_t shift = offset % 64;
  uint64_t* const first = words + offset / 64;
  first[0] = (first[0] & ~(mask << shift)) | (value & mask) << shift;
  if (shift + size <= 64) return;
  first[1] = (first[1] & ~(mask >> (64 - shift))) | (value & mask) >> (64 - shift);
}

}  // namespace

SignalProbes::SignalProbes(const std::vector<uint32_t>& widths, TagFilters filters)
    : filters_(std::move(filters)), current_filters_(filters_) {
  uint32_t words = 0;
  for (const uint32_t width : widths) {
    signals_.push_back(
        {.width = width, .first_word = words, .word_count = (width + 63) / 64, .probes = {}, .tagged = {}});
    words += signals_.back().word_count;
  }
  latest_.resize(words);
  committed_.resize(words);
}

void SignalProbes::Add(const Probe& probe) {
  if (probe.tag) return AddTagged(probe);
  signals_[probe.slot].probes.push_back(probe);
}

void SignalProbes::AddTagged(const Probe& probe) {
  for (const uint32_t slot : {probe.slot, probe.tag->slice, probe.tag->context.value_or(probe.slot)}) {
    signals_[slot].tagged.push_back(tagged_.size());
  }
  tagged_.push_back({TaggedProbe(probe, signals_[probe.slot].width, filters_.slices())});
}

void SignalProbes::Start(TraceWriter& writer) {
  for (const Signal& signal : signals_) {
    for (const Probe& probe : signal.probes) {
      // The wires of a number start at 0, like the signals.
      if (!IsSpread(probe)) writer.Set(probe.domain, probe.first_wire, LevelOf(probe, Words(committed_, signal)));
    }
  }
  for (Tagged& tagged : tagged_) FollowTagged(tagged, writer);
}

void SignalProbes::Set(uint32_t slot, const VcdValue& value) {
  Signal& signal = signals_[slot];
  const auto words = latest_.begin() + signal.first_word;
  const auto rest = std::copy(value.words().begin(), value.words().end(), words);
  std::fill(rest, words + signal.word_count, 0);
  MarkDirty(slot, signal);
}

void SignalProbes::SetPart(uint32_t slot, uint32_t offset, uint32_t part) {
  uint64_t* const whole = &latest_[signals_[slot].first_word];
  for (uint32_t done = 0; done < signals_[part].width; done += 64) {
    const uint32_t size = std::min<uint32_t>(64, signals_[part].width - done);
    CopyBits(latest_[signals_[part].first_word + done / 64], size, offset + done, whole);
  }
  MarkDirty(slot, signals_[slot]);
}

void SignalProbes::Commit(TraceWriter& writer) {
  for (const uint32_t slot : dirty_) CommitSignal(signals_[slot], writer);
  dirty_.clear();
  for (const size_t tagged : dirty_tagged_) FollowTagged(tagged_[tagged], writer);
  dirty_tagged_.clear();
}

void SignalProbes::CommitSignal(Signal& signal, TraceWriter& writer) {
  signal.dirty = false;
  const std::span<const uint64_t> words = Words(latest_, signal);
  const auto committed = committed_.begin() + signal.first_word;
  if (std::equal(words.begin(), words.end(), committed)) return;
  for (const Probe& probe : signal.probes) Follow(signal, probe, writer);
  for (const size_t tagged : signal.tagged) MarkTagged(tagged);
  std::copy(words.begin(), words.end(), committed);
}

// The request as of the last commit, under the filters of the next cycle.
void SignalProbes::FollowTagged(Tagged& tagged, TraceWriter& writer) {
  tagged.dirty = false;
  const Probe& probe = tagged.probe.probe();
  std::optional<uint64_t> context;
  if (probe.tag->context) context = CommittedWord(*probe.tag->context);
  const uint64_t slice = CommittedWord(probe.tag->slice);
  if (current_filters_.IsHidden(slice, context)) return tagged.probe.Hide(writer);
  tagged.probe.Follow(Words(committed_, signals_[probe.slot]), current_filters_.SliceOf(slice, context), writer);
}

void SignalProbes::LoadFilters(TraceWriter& writer) {
  current_filters_.AdvanceTo(writer.cycles(0));
  for (size_t i = 0; i < tagged_.size(); ++i) {
    if (tagged_[i].probe.probe().domain == 0) {
      FollowTagged(tagged_[i], writer);
    } else {
      MarkTagged(i);
    }
  }
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

TraceState::TraceState(const std::vector<uint32_t>& widths, const EventBinding& binding, const TagFilters& filters,
                       uint64_t chunk_cycles)
    : probes_(widths, filters), writer_(binding.pulses, chunk_cycles), watchers_(widths.size()) {
  for (const Probe& probe : binding.probes) probes_.Add(probe);
  probes_.Start(writer_);
  AddWatchers(binding);
}

void TraceState::AddWatchers(const EventBinding& binding) {
  for (size_t domain = 0; domain < binding.clocks.size(); ++domain) domains_.push_back({.domain = domain, .high = {}});
  for (Clock& clock : domains_) WatcherOf(binding.clocks[clock.domain]).clock = &clock;
  for (const VcdPart& part : binding.parts) WatcherOf(part.slot).parts.push_back(part);
}

TraceState::Watcher& TraceState::WatcherOf(uint32_t slot) {
  if (watchers_[slot] == nullptr) watchers_[slot] = std::make_unique<Watcher>();
  return *watchers_[slot];
}

bool TraceState::TimeMoves(TraceTime time) {
  if (time_ && time < *time_) return false;
  // The edges of the previous time have been counted; its changes apply from the next edge on.
  probes_.Commit(writer_);
  writer_.TimePasses();
  time_ = time;
  return true;
}

bool TraceState::Change(uint32_t slot, const VcdValue& value) {
  probes_.Set(slot, value);
  return watchers_[slot] == nullptr || SeeChange(*watchers_[slot], slot, (value.words()[0] & 1) != 0);
}

bool TraceState::SeeChange(Watcher& watcher, uint32_t slot, bool high) {
  for (const VcdPart& part : watcher.parts) probes_.SetPart(part.whole, part.offset, slot);
  return watcher.clock == nullptr || ClockChanges(*watcher.clock, high);
}

bool TraceState::ClockChanges(Clock& clock, bool high) {
  // The first value of a clock is no edge: its level before is unknown.
  const bool rises = high && clock.high == false;
  if (rises && !writer_.Tick(clock.domain)) return false;
  if (rises && clock.domain == 0) probes_.PassReferenceEdge(writer_);
  clock.high = high;
  return true;
}

}  // namespace sideband::sim
