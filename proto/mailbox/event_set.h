// SPDX-License-Identifier: Apache-2.0
//
// Some of a catalogue's events.
//   EventSet set = EmptySet(catalog.events.size());
//   Insert(event, set);
//   if (Includes(set, event)) Count(event);
#ifndef SIDEBAND_PROTO_MAILBOX_EVENT_SET_H_
#define SIDEBAND_PROTO_MAILBOX_EVENT_SET_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sideband::mailbox {

// Bit b of word w is event 64·w + b of the catalogue.
using EventSet = std::vector<uint64_t>;

inline constexpr size_t kEventSetWord = 64;

inline EventSet EmptySet(size_t events) { return EventSet((events + kEventSetWord - 1) / kEventSetWord); }

// false beyond the set's words.
inline bool Includes(const EventSet& events, size_t event) {
  return event / kEventSetWord < events.size() && (events[event / kEventSetWord] >> event % kEventSetWord & 1) != 0;
}

// Of these two, the set must have the event's word.
inline void Insert(size_t event, EventSet& events) {
  events[event / kEventSetWord] |= uint64_t{1} << event % kEventSetWord;
}

inline void Erase(size_t event, EventSet& events) {
  events[event / kEventSetWord] &= ~(uint64_t{1} << event % kEventSetWord);
}

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_EVENT_SET_H_
