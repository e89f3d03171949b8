// SPDX-License-Identifier: Apache-2.0
//
// The peeks that wait for the bus of one device, within their share of its time. Askers (PeekQuery::asker) have equal
// parts of the share.
//   PeekQueue queue(clock);
//   const absl::StatusOr<uint64_t> number = queue.Add(query, {.share = 0.1, .time = time}, done);
//   if (const auto peek = queue.Take()) Answer(*peek);   // on another thread
#ifndef SIDEBAND_DAEMON_COLLECTOR_PEEK_QUEUE_H_
#define SIDEBAND_DAEMON_COLLECTOR_PEEK_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/collector/fair_share.h"
#include "daemon/snapshot/live_block.h"
#include "daemon/snapshot/live_reader.h"

namespace sideband::daemon {

// Thread-safe. `clock` must outlive it. No lock is held while a `done` runs.
class PeekQueue {
 public:
  static constexpr size_t kWaitingMax = 16;
  static constexpr size_t kWaitingOfAskerMax = 4;
  // A peek that has waited longer is answered with DEADLINE_EXCEEDED.
  static constexpr absl::Duration kWaitMax = absl::Seconds(10);

  // Total number of times that a peek is begun: one that always has to give way must not keep the bus busy.
  static constexpr int kBeginsMax = 3;

  // What a peek may take of the bus, and is expected to.
  struct Price {
    double share = 0;     // of the bus's time for all peeks; 0: peeks are switched off
    absl::Duration time;  // zero if unknown
  };
  struct Peek {
    uint64_t number = 0;
    PeekQuery query;
    FairShare::Charge charge;
    LiveReader::Done done;
    absl::Duration give_up_at;  // steady time
    int begins = 0;             // in vain
  };

  explicit PeekQueue(const Clock& clock) : clock_(clock) {}

  // Returns the number of the peek. The time of a retry is rounded up to whole seconds, so that it tells an asker
  // little about others. Errors as of LiveReader::Peek; after Close(), UNAVAILABLE.
  absl::StatusOr<uint64_t> Add(PeekQuery query, const Price& price, LiveReader::Done done) ABSL_LOCKS_EXCLUDED(mu_);
  // Whether the peek still waited. Its `done` is then not called, and its charge is returned.
  bool Remove(uint64_t number) ABSL_LOCKS_EXCLUDED(mu_);
  // The first peek in the queue; nullopt if none waits. The caller calls its `done`.
  std::optional<Peek> Take() ABSL_LOCKS_EXCLUDED(mu_);
  // Answers the peeks that have waited too long. Their charges are returned.
  void GiveUpOverdue() ABSL_LOCKS_EXCLUDED(mu_);
  // A peek that was taken has used the bus for `actual`.
  void Settle(const Peek& peek, absl::Duration actual) ABSL_LOCKS_EXCLUDED(mu_);
  // A peek that was taken has used the bus for `used`, in vain: it waits again, behind the others and for no longer
  // than before. After kBeginsMax times it is answered with DEADLINE_EXCEEDED instead.
  void PutBack(Peek peek, absl::Duration used) ABSL_LOCKS_EXCLUDED(mu_);
  // Answers all waiting peeks with UNAVAILABLE, for good.
  void Close() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  absl::Status CheckRoom(size_t asker) const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  std::optional<Peek> Pop() ABSL_LOCKS_EXCLUDED(mu_);
  // Moves from the peek if it waits again.
  absl::Status WaitAgain(Peek& peek, absl::Duration used) ABSL_LOCKS_EXCLUDED(mu_);
  std::vector<Peek> PopOverdue() ABSL_LOCKS_EXCLUDED(mu_);

  const Clock& clock_;
  absl::Mutex mu_;
  bool is_closed_ ABSL_GUARDED_BY(mu_) = false;
  uint64_t last_number_ ABSL_GUARDED_BY(mu_) = 0;
  std::deque<Peek> waiting_ ABSL_GUARDED_BY(mu_);
  FairShare share_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_PEEK_QUEUE_H_
