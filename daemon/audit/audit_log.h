// SPDX-License-Identifier: Apache-2.0
//
// The audit log of a running daemon: takes entries from all threads and has one of its own that writes them.
//   SIDEBAND_ASSIGN_OR_RETURN(auto files, AuditFiles::Open({.path = "audit.jsonl"}));
//   SIDEBAND_ASSIGN_OR_RETURN(auto log, AuditLog::Start({.greeting = "sidebandd 0.1.0"}, *files, clock, metrics));
//   log->Record(entry);
//   log->Stop();
#ifndef SIDEBAND_DAEMON_AUDIT_AUDIT_LOG_H_
#define SIDEBAND_DAEMON_AUDIT_AUDIT_LOG_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/audit/audit_files.h"
#include "daemon/audit/audit_sink.h"
#include "daemon/audit/audit_storage.h"
#include "daemon/audit/audit_writer.h"
#include "daemon/audit/nobody_repeats.h"
#include "daemon/base/clock.h"
#include "daemon/metrics/self_metrics.h"

namespace sideband::daemon {

// Thread-safe. Record() never waits for the disk: what finds no room is counted, as is what cannot be written, and a
// "lost" entry says how many as soon as writing works again; while it does not, that is tried once an interval. What
// nobody asks for again and again is written once a window, and then how often (nobody_repeats.h).
class AuditLog final : public AuditSink {
 public:
  struct Options {
    std::string greeting;              // in the "start" entry
    size_t queue_bytes_max = 4 << 20;  // of entries that wait for the writer
    NobodyRepeats::Options repeats;
    absl::Duration interval = absl::Seconds(1);  // between two syncs, and between attempts after an error
    // Told when writing begins to fail or fails for another reason, and (OK) when it works again. On the log's thread.
    std::function<void(const absl::Status&)> on_change = [](const absl::Status&) {};
  };

  // Writes the "start" entry first; an error is one of writing it. `storage`, whose chain ends with `end`, `clock` and
  // `metrics` must outlive the log.
  static absl::StatusOr<std::unique_ptr<AuditLog>> Start(Options options, const AuditFiles::ChainEnd& end,
                                                         AuditStorage& storage, const Clock& clock,
                                                         SelfMetrics& metrics);
  // Stops.
  ~AuditLog() override;

  // After Stop() entries are only counted, as lost.
  bool Record(AuditEntry entry) override ABSL_LOCKS_EXCLUDED(mu_);
  // Writes what is waiting, what was repeated, and a "stop" entry, and syncs. May be called more than once.
  void Stop() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // What the writer takes at once.
  struct Batch {
    std::vector<AuditEntry> entries;
    uint64_t dropped = 0;  // after these
    bool is_last = false;
  };

  AuditLog(Options options, const AuditFiles::ChainEnd& end, AuditStorage& storage, const Clock& clock,
           SelfMetrics& metrics);

  absl::Status Begin(const AuditFiles::ChainEnd& end);
  void Run();
  Batch Take();
  // Until when there may be nothing to do.
  absl::Duration Timeout() const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  // False: there was no room.
  bool Push(AuditEntry entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool HasNews() const ABSL_SHARED_LOCKS_REQUIRED(mu_) {
    return !waiting_.entries.empty() || waiting_.dropped > 0 || waiting_.is_last;
  }
  absl::Status Write(Batch batch);
  void Report(const absl::Status& status);

  // Constant.
  const Options options_;
  const Clock& clock_;
  SelfMetrics& metrics_;
  // The writing thread's.
  AuditWriter writer_;
  std::string last_error_;

  absl::Mutex mu_;
  Batch waiting_ ABSL_GUARDED_BY(mu_);
  size_t waiting_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  NobodyRepeats repeats_ ABSL_GUARDED_BY(mu_);

  std::thread thread_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUDIT_AUDIT_LOG_H_
