// SPDX-License-Identifier: Apache-2.0
//
// Work that requests cause, over HTTP and gRPC: it runs on threads of its own, operators' first, and each other holder
// has one budget of processor time for all of it (docs/decisions/0040-one-budget-of-processor-time.md).
//   WorkQueue work({}, clock);
//   work.Add(WorkQueue::Lane::kQueries, {.name = "spiffe://example.org/acme"}, [](const absl::Status& may) {
//     may.ok() ? Answer() : Reject(*RetryAfter(may));
//   });
#ifndef SIDEBAND_DAEMON_LISTEN_WORK_QUEUE_H_
#define SIDEBAND_DAEMON_LISTEN_WORK_QUEUE_H_

#include <array>
#include <cstddef>
#include <cstdint>
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
#include "daemon/listen/throttle.h"

namespace sideband::daemon {

// The processor time of the calling thread.
absl::Duration ThreadProcessorTime();

// Thread-safe. `clock` must outlive it.
class WorkQueue {
 public:
  // In the order in which they are served; every fourth time a thread is free, in the reverse order, so that none waits
  // for ever.
  enum class Lane { kScrapes, kQueries, kHistories };
  struct Holder {
    std::string name;
    // Has a thread for queries, precedes all others' histories, and has no budget.
    bool is_operator = false;
  };
  // Called once, with OK, or with RESOURCE_EXHAUSTED and a time (daemon/base/retry_after.h) where the holder has used
  // up its processor time.
  using Work = std::function<void(const absl::Status& may)>;
  struct Options {
    // Beside the operators' thread. They yield to all else that the machine does (nice 10). One is never occupied by
    // queries, and another one never by histories.
    int threads = 3;
    // Seconds of a processor, of one holder.
    TokenRate processor = {.burst = 5, .per_second = 0.25};
    std::function<absl::Duration()> processor_time = ThreadProcessorTime;
  };

  WorkQueue(Options options, const Clock& clock);
  // Stops.
  ~WorkQueue();

  // Runs `work` later; of a holder's work in one lane, one after the other. How much may wait is the caller's to bound:
  // a holder's connections and calls under way. What is refused at once runs on the calling thread.
  void Add(Lane lane, const Holder& holder, Work work);
  // Runs what waits, and blocks until it has ended. Later work runs on the calling thread of Add. Idempotent.
  void Stop();

 private:
  // Operators' scrapes and queries, operators' histories, then the others'.
  enum Row : size_t { kOperators, kOperatorsHistories, kScrapes, kQueries, kHistories, kRows };
  // The work of one holder in one row: in `turns` while it waits and none of it runs.
  struct Line {
    std::deque<Work> works;
    bool is_running = false;
  };
  struct RowState {
    absl::flat_hash_map<std::string, Line> lines;  // by holder; without those that are empty and not running
    std::deque<std::string> turns;
    int running = 0;
  };
  struct Job {
    Row row;
    std::string holder;
    Work work;
    absl::Status may;
  };

  static Row RowOf(Lane lane, const Holder& holder);
  // Until the queue stops.
  void ServeOperators();
  void ServeOthers();
  void RunOne(Job job);
  std::optional<Job> TakeOthers(uint64_t turn) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Job TakeFrom(Row row) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool MayTake(Row row) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Finish(const Job& job, absl::Duration used) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status CheckBudget(Row row, const std::string& holder) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool HasOperatorsWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return is_stopping_ || MayTake(kOperators); }
  bool HasOthersWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Options options_;
  const Clock& clock_;
  absl::Mutex mu_;
  bool is_stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::array<RowState, kRows> rows_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, TokenBucket> budgets_
      ABSL_GUARDED_BY(mu_);  // by holder; without those that are full
  std::vector<std::thread> threads_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_LISTEN_WORK_QUEUE_H_
