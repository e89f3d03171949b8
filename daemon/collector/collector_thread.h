// SPDX-License-Identifier: Apache-2.0
//
// The thread that reads one device at its configured interval, and runs the jobs that callers ask of its bus in
// between. An unreachable device is retried at every interval. A transition between success and failure, or a changed
// error, is logged once.
//   CollectorThread thread(device, std::move(transport), 0x4F, {store, sealers, book, policy, audit, metrics, clock});
//   thread.Start();
//   thread.RequestStop();
//   thread.Stop();
#ifndef SIDEBAND_DAEMON_COLLECTOR_COLLECTOR_THREAD_H_
#define SIDEBAND_DAEMON_COLLECTOR_COLLECTOR_THREAD_H_

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "daemon/base/clock.h"
#include "daemon/collector/bus_jobs.h"
#include "daemon/collector/device_board.h"
#include "daemon/collector/device_collector.h"
#include "daemon/collector/log_limit.h"
#include "daemon/collector/routers.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/mailbox/register_port.h"
#include "daemon/transport/transport.h"
#include "proto/base/steady_time.h"

namespace sideband::daemon {

// Start and Stop must be called from one thread. The members of `context` must outlive this object.
class CollectorThread {
 public:
  CollectorThread(size_t device, std::unique_ptr<Transport> transport, uint8_t address,
                  const CollectorContext& context);
  // Calls Stop().
  ~CollectorThread();

  void Start();
  // Does not block. A running collection ends after its current bus transaction, and no new one starts; jobs that wait
  // are refused with UNAVAILABLE. On shutdown this is called for all devices before
  // Stop() is called for the first, so that unresponsive devices time out in parallel.
  void RequestStop() ABSL_LOCKS_EXCLUDED(mu_);
  // Makes the thread read the device's DeviceInfo from the store again. A changed interval takes effect immediately.
  void Reconsider() ABSL_LOCKS_EXCLUDED(mu_);
  // Calls RequestStop() and joins the thread.
  void Stop();
  // How long a collection or a job has made no progress; zero in between. A bus transaction is progress, also one that
  // fails. Thread-safe.
  absl::Duration Silence() const;

 private:
  // Cancels transactions after a stop request or at the deadline, so that the retries of an unresponsive
  // device do not delay the shutdown. Before each of them, refuses the jobs that have waited too long.
  class Bus final : public Transport {
   public:
    Bus(Transport& transport, CollectorThread& owner) : transport_(transport), owner_(owner) {}
    absl::StatusOr<smbus::TransferResult> Execute(const smbus::Transfer& transfer) override;
    size_t block_bytes_max() const override { return transport_.block_bytes_max(); }
    LockFile lock_file() const override { return transport_.lock_file(); }

    // Sets the deadline of what starts now, and the message of the error beyond it.
    void StartWithin(absl::Duration most, absl::string_view error) {
      deadline_ = owner_.clock_.Steady() + most;
      error_ = error;
    }

   private:
    Transport& transport_;
    CollectorThread& owner_;
    absl::Duration deadline_ = absl::InfiniteDuration();
    absl::string_view error_;
  };

  // Bounds a collection independently of the stream length that the device reports. A bus at 100 kHz carries 6 MB in
  // this time.
  static constexpr absl::Duration kCollectionMax = absl::Minutes(10);
  // Bounds a job in the same way. A peek of 64 events of as many extends takes as long on the slowest bus.
  static constexpr absl::Duration kPeekMax = absl::Seconds(10);
  // A collection waits for another program's lock for a second.
  static constexpr int kLockAttemptsMax = 200;
  static constexpr absl::Duration kLockPause = absl::Milliseconds(5);

  void Run();
  void ShowProgress() { progress_ns_ = absl::ToInt64Nanoseconds(clock_.Steady()); }
  bool IsStopping() const ABSL_LOCKS_EXCLUDED(mu_);
  void Report(const absl::Status& status);
  void ReportVersion();
  void ReportRestart();
  void Collect();
  // Takes the bus's lock if the mailbox is shared. Of another program that has it, UNAVAILABLE after a while.
  absl::Status LockBus() ABSL_LOCKS_EXCLUDED(mu_);
  // Publishes a device without the extension, whose board answers: it is up.
  void PublishBoardAlone();
  bool HasHadCounters() const;
  // Runs jobs, and reads the board, one of each kind after the other: one, and more while no snapshot is due at `next`.
  // A due snapshot therefore waits for one question of a peek at most, and jobs run also if collections take the whole
  // interval.
  void RunJobs(absl::Duration next) ABSL_LOCKS_EXCLUDED(mu_);
  // Runs one; false if none waits. No kind can keep another waiting.
  bool RunNext(absl::Duration next);
  void Wake() ABSL_LOCKS_EXCLUDED(mu_);
  // Reads the DeviceInfo from the store. Returns true if the interval has changed.
  bool UpdateInfo() ABSL_LOCKS_EXCLUDED(mu_);
  // Waits for `duration` or a stop request. Returns false after a stop request.
  bool WaitFor(absl::Duration duration) ABSL_LOCKS_EXCLUDED(mu_);
  // Waits until the steady time `next`, a stop request, Reconsider() or a job. Returns false after a stop request.
  bool WaitUntil(absl::Duration next) ABSL_LOCKS_EXCLUDED(mu_);
  bool IsWoken() const ABSL_SHARED_LOCKS_REQUIRED(mu_) { return stopping_ || is_to_reconsider_ || is_job_added_; }

  const size_t device_;
  Store& store_;
  std::shared_ptr<const DeviceInfo> info_;  // shared with the store; used by the collector's thread only
  const std::unique_ptr<Transport> transport_;
  Bus bus_;
  RegisterPort port_;
  MailboxSession session_;
  DeviceCollector collector_;
  BusJobs jobs_;
  BusLock lock_;
  DeviceBoard board_;
  BusDirectory* const buses_;  // nullptr: there are no callers
  const Clock& clock_;
  std::string last_error_;    // empty after a successful snapshot; used by the collector's thread only
  size_t first_kind_ = 0;     // of job that runs next if one waits; likewise
  bool reported_ = false;     // Report() was called at least once; likewise
  bool is_readable_ = false;  // the last collection has succeeded; likewise
  uint64_t boot_id_ = 0;      // of the newest snapshot; likewise
  uint8_t version_ = 0;       // of the snapshot extension, as logged; likewise
  LogLimit<5> changes_;       // of both; likewise

  mutable absl::Mutex mu_;
  SteadyCondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  bool is_to_reconsider_ ABSL_GUARDED_BY(mu_) = false;
  bool is_job_added_ ABSL_GUARDED_BY(mu_) = false;
  // The steady time of the last progress, in nanoseconds; kResting between collections and jobs.
  static constexpr int64_t kResting = std::numeric_limits<int64_t>::max();
  std::atomic<int64_t> progress_ns_ = kResting;
  std::thread thread_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_COLLECTOR_THREAD_H_
