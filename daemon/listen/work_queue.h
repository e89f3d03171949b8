// SPDX-License-Identifier: Apache-2.0
//
// Work that requests cause, over HTTP and gRPC: it runs on threads of its own, operators' first, and each holder has
// one budget of processor time for all of it (docs/decisions/0040-one-budget-of-processor-time.md).
//   WorkQueue work({}, clock);
//   const absl::Status status = work.Add(WorkQueue::Lane::kQueries, "spiffe://example.org/acme", [] { Answer(); });
//   if (!status.ok()) Reject(*RetryAfter(status));
#ifndef SIDEBAND_DAEMON_LISTEN_WORK_QUEUE_H_
#define SIDEBAND_DAEMON_LISTEN_WORK_QUEUE_H_

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/listen/token_bucket.h"

namespace sideband::daemon {

// The processor time of the calling thread.
absl::Duration ThreadProcessorTime();

// Thread-safe. `clock` must outlive it.
class WorkQueue {
 public:
  // In the order in which they are served. Operators have a thread of their own; the others' threads yield to all else
  // that the machine does (nice 10). Histories never occupy the last of these.
  enum class Lane { kOperators, kScrapes, kQueries, kHistories };
  struct Options {
    int threads = 2;  // beside that of the operators
    // Seconds of a processor, of one holder.
    TokenRate processor = {.burst = 5, .per_second = 0.25};
    std::function<absl::Duration()> processor_time = ThreadProcessorTime;
  };

  WorkQueue(Options options, const Clock& clock);
  // Stops.
  ~WorkQueue();

  // Runs `work` once, later; of a holder's work in one lane, one after the other. RESOURCE_EXHAUSTED, with a time
  // (daemon/base/retry_after.h), where the holder has used up its processor time. Operators have no budget.
  // How much may wait is the caller's to bound: connections and calls under way of a holder.
  absl::Status Add(Lane lane, const std::string& holder, std::function<void()> work);
  // Runs what waits, and blocks until it has ended. Later work runs on the calling thread of Add. Idempotent.
  void Stop();

 private:
  static constexpr size_t kLanes = 4;
  using Works = std::deque<std::function<void()>>;
  // The work of one holder in one lane: in `turns` while it waits and none of it runs.
  struct Line {
    Works works;
    bool is_running = false;
  };
  struct LaneState {
    absl::flat_hash_map<std::string, Line> lines;  // by holder; without those that are empty and not running
    std::deque<std::string> turns;
    int running = 0;
  };
  struct Job {
    Lane lane;
    std::string holder;
    std::function<void()> work;
  };

  // Until the queue stops. `has_work` holds where one of the lanes has something.
  void Serve(const std::vector<Lane>& lanes, bool (WorkQueue::*has_work)() const);
  std::optional<Job> Take(const std::vector<Lane>& lanes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Job TakeFrom(Lane lane) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool MayTake(Lane lane) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Finish(const Job& job, absl::Duration used) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status CheckBudget(const std::string& holder) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool HasOperatorsWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool HasOthersWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Options options_;
  const Clock& clock_;
  absl::Mutex mu_;
  bool is_stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::array<LaneState, kLanes> lanes_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, TokenBucket> budgets_
      ABSL_GUARDED_BY(mu_);  // by holder; without those that are full
  std::vector<std::thread> threads_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_LISTEN_WORK_QUEUE_H_
