// SPDX-License-Identifier: Apache-2.0
//
// Encodes entries as lines of the chain, and counts the entries that could not be written.
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
#include "daemon/metrics/audit_metrics.h"
#include "proto/audit/entry.h"

namespace sideband::daemon {

// The number of requests or events that an entry represents.
inline uint64_t RepresentedEntries(const AuditEntry& entry) { return entry.repeated > 0 ? entry.repeated : 1; }

// Not thread-safe.
class AuditWriter {
 public:
  struct Options {
    absl::Duration sync_interval = absl::Seconds(1);
  };
  // The last three must outlive it.
  AuditWriter(const AuditFiles::ChainEnd& end, AuditStorage& storage, const Clock& clock, AuditMetrics& metrics,
              Options options);

  // Appends the entries; after losses, a "lost" entry comes first. The entries must have their times; their sequences
  // are set here. Entries that could not be written because of the returned error count as lost.
  absl::Status Write(std::vector<AuditEntry> entries);
  // Counts entries that did not reach the writer.
  void Lose(uint64_t entries);
  // Make written lines survive a power failure. SyncIfDue() does so at most once an interval, and otherwise returns the
  // status of the last sync.
  absl::Status SyncIfDue();
  absl::Status Sync();

  // Whether Write({}) or SyncIfDue() has work to do, now or later.
  bool has_unfinished() const { return lost_ > 0 || is_dirty_; }

 private:
  absl::Status AppendLostEntry();
  // Appends as many entries from `begin` on as fit into one piece, and moves `begin` behind them.
  absl::Status AppendPiece(std::vector<AuditEntry>& entries, size_t& begin);

  // Constant.
  AuditStorage& storage_;
  const Clock& clock_;
  AuditMetrics& metrics_;
  const Options options_;

  uint64_t sequence_;  // of the last entry
  std::string head_;
  uint64_t lost_ = 0;  // not in a "lost" entry yet
  bool is_dirty_ = false;
  absl::Duration last_sync_ = -absl::InfiniteDuration();
  absl::Status sync_status_;  // of the last sync
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUDIT_AUDIT_WRITER_H_
