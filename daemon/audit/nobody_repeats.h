// SPDX-License-Identifier: Apache-2.0
//
// What nobody asked for, again and again: the first of a kind is written, the others within its window are counted, so
// that a flood of bad tokens does not push the rest out of the log.
//   if (repeats.Count(entry, now)) return;   // one more of what has just been told
//   Write(entry);
//   for (AuditEntry& summary : repeats.TakeEnded(now)) Write(summary);   // when `now` is next_end(), or at any time
#ifndef SIDEBAND_DAEMON_AUDIT_NOBODY_REPEATS_H_
#define SIDEBAND_DAEMON_AUDIT_NOBODY_REPEATS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "proto/audit/entry.h"

namespace sideband::daemon {

// Not thread-safe. Holds the last entry of each of `kinds_max` kinds and one more: the caller bounds their texts. What
// was decided for somebody whom the policy knows is never counted here.
class NobodyRepeats {
 public:
  struct Options {
    absl::Duration window = absl::Minutes(1);  // from the first of a kind
    size_t kinds_max = 64;                     // at once; those beyond are one kind together
  };
  explicit NobodyRepeats(Options options) : options_(options) {}

  // False: the entry is to be written. If it is nobody's, others like it (endpoint, reason, and what was shown) are
  // counted from `now` on until its window ends.
  bool Count(const AuditEntry& entry, absl::Duration now);
  // When the first window ends; infinite without one.
  absl::Duration next_end() const { return next_end_; }
  // The last entry of each kind whose window has ended, with how many were counted; none where none was.
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

#endif  // SIDEBAND_DAEMON_AUDIT_NOBODY_REPEATS_H_
