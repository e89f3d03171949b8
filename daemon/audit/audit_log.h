// SPDX-License-Identifier: Apache-2.0
//
// The audit log of a running daemon: queues the entries of all threads and writes them from a thread of its own.
//   SIDEBAND_ASSIGN_OR_RETURN(auto files, AuditFiles::Open({.path = "audit.jsonl"}));
//   const AuditLog::Options options{.greeting = "sidebandd 0.1.0"};
//   SIDEBAND_ASSIGN_OR_RETURN(auto log, AuditLog::Start(options, files->end(), *files, clock, metrics));
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
#include "daemon/audit/anonymous_aggregator.h"
#include "daemon/audit/audit_files.h"
#include "daemon/audit/audit_sink.h"
#include "daemon/audit/audit_storage.h"
#include "daemon/audit/audit_writer.h"
#include "daemon/base/clock.h"
#include "daemon/metrics/audit_metrics.h"
#include "proto/base/steady_time.h"

namespace sideband::daemon {

// Thread-safe. Record() never waits for the disk. Entries that exceed the queue or that cannot be written are counted,
// and a "lost" entry with their number is written as soon as writing works again; until then it is retried once an
// interval. Repeated denials of unauthenticated callers are written once a window, then counted
// (anonymous_aggregator.h).
class AuditLog final : public AuditSink {
 public:
  struct Options {
    std::string greeting;              // in the "start" entry
    size_t queue_bytes_max = 4 << 20;  // of queued entries
    AnonymousAggregator::Options repeats;
    absl::Duration interval = absl::Seconds(1);  // between two syncs, and between attempts after an error
    // Called when writing starts to fail or fails for another reason, and with OK when it works again. On the log's
    // thread.
    std::function<void(const absl::Status&)> on_change = [](const absl::Status&) {};
  };

  // Writes the "start" entry and returns the error of writing it. `end` is the end of the chain in `storage`.
  // `storage`, `clock` and `metrics` must outlive the log.
  static absl::StatusOr<std::unique_ptr<AuditLog>> Start(Options options, const AuditFiles::ChainEnd& end,
                                                         AuditStorage& storage, const Clock& clock,
                                                         AuditMetrics& metrics);
  // Stops.
  ~AuditLog() override;

  // After Stop(), entries are only counted as lost.
  bool Record(AuditEntry entry) override ABSL_LOCKS_EXCLUDED(mu_);
  // Writes the queued entries, the counted repeats and a "stop" entry, and syncs. May be called more than once.
  void Stop() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // The entries that the writer takes at once.
  struct Batch {
    std::vector<AuditEntry> entries;
    uint64_t dropped = 0;  // number of entries dropped after these
    bool is_last = false;
  };

  AuditLog(Options options, const AuditFiles::ChainEnd& end, AuditStorage& storage, const Clock& clock,
           AuditMetrics& metrics);

  absl::Status Begin(const AuditFiles::ChainEnd& end);
  void Run();
  Batch Take();
  // How long the writer may wait if no entry comes.
  absl::Duration Timeout() const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  // False where the queue is full.
  bool Push(AuditEntry entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool HasNews() const ABSL_SHARED_LOCKS_REQUIRED(mu_) {
    return !waiting_.entries.empty() || waiting_.dropped > 0 || waiting_.is_last;
  }
  absl::Status Write(Batch batch);
  void Report(const absl::Status& status);

  // Constant.
  const Options options_;
  const Clock& clock_;
  AuditMetrics& metrics_;
  // The writing thread's.
  AuditWriter writer_;
  std::string last_error_;

  absl::Mutex mu_;
  SteadyCondVar changed_;  // a change of waiting_
  Batch waiting_ ABSL_GUARDED_BY(mu_);
  size_t waiting_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  AnonymousAggregator repeats_ ABSL_GUARDED_BY(mu_);

  std::thread thread_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUDIT_AUDIT_LOG_H_
