// SPDX-License-Identifier: Apache-2.0
//
// Bookmarks: instants of a scope's work that a controller has asked for, with what the scope had counted then.
// (clocks.md, "Bookmarks"; README.md, "Bookmarks".)
//   for (const ServedBookmark& served : snapshot.bookmarks) {
//     Note(snapshot.blocks[served.block], served.bookmark, served.served_ns, served.counters);
//   }
#ifndef SIDEBAND_PROTO_MAILBOX_BOOKMARKS_H_
#define SIDEBAND_PROTO_MAILBOX_BOOKMARKS_H_

#include <cstddef>
#include <cstdint>

#include "proto/mailbox/counter_values.h"

namespace sideband::mailbox {

// A device keeps so many of a scope, the newest ones. Those of an earlier generation are not kept.
inline constexpr size_t kBookmarksKept = 8;

// Times are of the reference clock, in nanoseconds since boot, rounded down.
struct ServedBookmark {
  uint64_t number = 0;    // of all that the device has served since boot, from 1
  uint16_t block = 0;     // its place in the snapshot
  uint32_t bookmark = 0;  // the controller's own value
  uint64_t asked_ns = 0;
  uint64_t served_ns = 0;  // the instant of the counters
  CounterValues counters;  // what was counted, in the catalogue's order of events
  bool operator==(const ServedBookmark&) const = default;
};

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_BOOKMARKS_H_
