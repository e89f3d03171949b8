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
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/audit/audit_files.h"
#include "daemon/audit/audit_sink.h"
#include "daemon/base/clock.h"
#include "daemon/metrics/area_metrics.h"
#include "proto/audit/chain.h"
#include "proto/base/steady_time.h"

namespace sideband::daemon {

// Encodes entries as lines of the chain, and counts the entries that could not be written.

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

// Aggregates repeated denials of unauthenticated callers: the first of a kind is written, further denials within its
// window are counted. A flood of invalid tokens therefore does not push other entries out of the log.
//
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

// Thread-safe. Record() never waits for the disk. Entries that exceed the queue or that cannot be written are counted,
// and a "lost" entry with their number is written as soon as writing works again; until then it is retried once an
// interval. Repeated denials of unauthenticated callers are written once a window, then counted
// (AnonymousAggregator).
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
