// SPDX-License-Identifier: Apache-2.0
//
// Turns entries into lines of the chain, and answers for those that could not be written.
//   AuditWriter writer(files->end(), *files, clock, metrics, {});
//   SIDEBAND_RETURN_IF_ERROR(writer.Write({entry}));
//   SIDEBAND_RETURN_IF_ERROR(writer.SyncIfDue());
#ifndef SIDEBAND_DAEMON_AUDIT_AUDIT_WRITER_H_
#define SIDEBAND_DAEMON_AUDIT_AUDIT_WRITER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "daemon/audit/audit_files.h"
#include "daemon/audit/audit_storage.h"
#include "daemon/base/clock.h"
#include "daemon/metrics/self_metrics.h"
#include "proto/audit/entry.h"

namespace sideband::daemon {

// How many requests or events an entry tells of.
inline uint64_t ToldBy(const AuditEntry& entry) { return entry.repeated > 0 ? entry.repeated : 1; }

// Not thread-safe.
class AuditWriter {
 public:
  struct Options {
    absl::Duration sync_interval = absl::Seconds(1);
  };
  // The last three must outlive it.
  AuditWriter(const AuditFiles::ChainEnd& end, AuditStorage& storage, const Clock& clock, SelfMetrics& metrics,
              Options options);

  // Appends the entries, and before them, where some were lost, a "lost" entry. The entries must have their times, and
  // are given their sequences. What is not written, because of the error that is returned, counts as lost.
  absl::Status Write(std::vector<AuditEntry> entries);
  // Counts entries that never came here.
  void Lose(uint64_t entries);
  // Makes what was written outlast a power cut: at most once an interval, or now. In between the last error stands.
  absl::Status SyncIfDue();
  absl::Status Sync();

  // Whether Write({}) or SyncIfDue() has something to do, now or later.
  bool has_unfinished() const { return lost_ > 0 || is_dirty_; }

 private:
  absl::Status AppendLostEntry();
  // Appends entries from `begin` on, as many as fit in one piece, and moves `begin` beyond them.
  absl::Status AppendPiece(std::vector<AuditEntry>& entries, size_t& begin);

  // Constant.
  AuditStorage& storage_;
  const Clock& clock_;
  SelfMetrics& metrics_;
  const Options options_;

  uint64_t sequence_;  // of the last entry
  std::string head_;
  uint64_t lost_ = 0;  // and not told in the log yet
  bool is_dirty_ = false;
  absl::Duration last_sync_ = -absl::InfiniteDuration();
  absl::Status sync_status_;  // of the last
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUDIT_AUDIT_WRITER_H_
