// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/trace_state.h"

namespace sideband::sim {

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
