// SPDX-License-Identifier: Apache-2.0
//
// Aggregates repeated denials of unauthenticated callers: the first of a kind is written, further denials within its
// window are counted. A flood of invalid tokens therefore does not push other entries out of the log.
//   if (repeats.Count(entry, now)) return;   // a repeat of an entry that was written
//   Write(entry);
//   for (AuditEntry& summary : repeats.TakeEnded(now)) Write(summary);   // when `now` is next_end(), or at any time
#ifndef SIDEBAND_DAEMON_AUDIT_ANONYMOUS_AGGREGATOR_H_
#define SIDEBAND_DAEMON_AUDIT_ANONYMOUS_AGGREGATOR_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "proto/audit/entry.h"

namespace sideband::daemon {

// Not thread-safe. Holds the last entry of each of `kinds_max` kinds and one more kind; the caller bounds the length of
// their texts. Decisions on authenticated callers are never aggregated.
class AnonymousAggregator {
 public:
  struct Options {
    absl::Duration window = absl::Minutes(1);  // from the first entry of a kind
    size_t kinds_max = 64;                     // at a time; further kinds are aggregated as one kind
  };
  explicit AnonymousAggregator(Options options) : options_(options) {}

  // False: the entry is to be written. If it is a denial of an unauthenticated caller, it starts a window at `now`, in
  // which further entries of its kind (same endpoint, reason and credentials) are counted.
  bool Count(const AuditEntry& entry, absl::Duration now);
  // The end of the earliest window; infinite without a window.
  absl::Duration next_end() const { return next_end_; }
  // The last entry of each kind whose window has ended, with the number of repeats. Kinds without repeats are omitted.
  std::vector<AuditEntry> TakeEnded(absl::Duration now);
  // The same, as if all windows had ended.
  std::vector<AuditEntry> TakeAll() { return TakeEnded(absl::InfiniteDuration()); }

 private:
  struct Kind {
    absl::Duration end;
    AuditEntry last;  // with `repeated`
  };

  const Options options_;
  absl::flat_hash_map<std::string, Kind> kinds_;
  absl::Duration next_end_ = absl::InfiniteDuration();
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUDIT_ANONYMOUS_AGGREGATOR_H_
