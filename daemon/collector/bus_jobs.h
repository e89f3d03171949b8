// SPDX-License-Identifier: Apache-2.0
//
// The jobs that callers ask of one device's bus: peeks, triggers, turns, exchanges of keys and marks. Each is a job,
// which waits here until the collector's thread runs it between two collections. How many may wait, and how much of the
// bus's time they may take, stands in one row for each kind (bus_jobs.cc).
//   BusJobs jobs(session, clock, wake);
//   BusJob job{.kind = BusJobKind::kTrigger, .refuse = done};
//   job.run = [done](MailboxSession& session, absl::Duration) {
//     const auto number = RunTrigger(session, mailbox::TriggerStep::kOnce, 0);
//     return BusJob::Ran{[done, number] { done(number.status()); }};
//   };
//   const absl::StatusOr<uint64_t> number = jobs.Add(std::move(job));
//   jobs.RunNext(BusJobKind::kTrigger, is_readable, due);   // on the collector's thread
#ifndef SIDEBAND_DAEMON_COLLECTOR_BUS_JOBS_H_
#define SIDEBAND_DAEMON_COLLECTOR_BUS_JOBS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/mailbox/mailbox_session.h"

namespace sideband::daemon {

// Limits on the share of a bus's time: an average, and a burst after a pause. BusShare is one share; FairShare is one
// that those who ask have in equal parts. Not thread-safe.
class BusShare {
 public:
  // After a pause the share of this time may be used at once.
  static constexpr absl::Duration kBurst = absl::Seconds(1);

  // Charges `cost`, the expected time on the bus, and returns zero; or returns the time after which it can be charged.
  // `of` is above 0, at most 1; infinite: there is no limit. A cost beyond the whole burst is charged, too, where
  // nothing else is: what follows then waits for longer.
  absl::Duration Take(double of, absl::Duration cost, absl::Duration now);
  // The bus was used for `actual` in place of `cost`.
  void Settle(double of, absl::Duration cost, absl::Duration actual) { paid_until_ += (actual - cost) / of; }

 private:
  // Steady time: each charge adds the time in which the share earns it.
  absl::Duration paid_until_ = -absl::InfiniteDuration();
};

// Not thread-safe. Has an entry for each asker that has a part.
class FairShare {
 public:
  // An asker has its part from its first question on, until it has not asked for this time, beyond the time that it was
  // told to wait.
  static constexpr absl::Duration kPartKept = absl::Seconds(10);

  struct Charge {
    size_t asker = 0;
    double of = 0;        // all askers together, as for BusShare
    absl::Duration cost;  // expected
    double part = 0;      // the asker's own part of the bus's time; set by Take
  };

  // BusShare::Take of the asker's part and of the whole.
  absl::Duration Take(Charge& charge, absl::Duration now);
  // The bus was used for `actual` in place of the cost of a charge that was taken.
  void Settle(const Charge& charge, absl::Duration actual);

 private:
  struct Part {
    BusShare share;
    absl::Duration kept_until = -absl::InfiniteDuration();  // steady time
  };

  BusShare whole_;
  absl::flat_hash_map<size_t, Part> parts_;  // by asker
};

// The rejection of who has to wait, in whole seconds: the exact time would tell what others use.
absl::Status Exhausted(absl::string_view what, absl::Duration wait);

enum class BusJobKind : uint8_t { kTrigger, kPeek, kRotation, kSeal, kMark };
inline constexpr size_t kBusJobKinds = 5;

// The limits of a kind of job.
struct BusJobLimits {
  absl::string_view too_many;  // the message where too many wait
  absl::string_view no_time;   // and where the bus's time is used up
  size_t waiting_max = 16;     // of all askers
  size_t waiting_of_asker_max = 4;
  // Jobs are rejected beyond this share of the bus's time. Askers have equal parts of it.
  double share = 0;
  // The time that a job is expected to take of the bus. It is charged when the job is accepted, and what it really took
  // when the job has run.
  absl::Duration cost;
  // A job that has waited longer is refused with DEADLINE_EXCEEDED.
  absl::Duration wait_max = absl::InfiniteDuration();
  // Others are not felt: only the asker's own jobs count, a job's share is the asker's own and stays charged as
  // expected, and askers are served in turn.
  bool is_own = false;
};

const BusJobLimits& LimitsOf(BusJobKind kind);

struct BusJob {
  static constexpr double kUnlimited = std::numeric_limits<double>::infinity();

  struct Ran {
    std::function<void()> answer;  // called when the bus's time has been charged; empty: the job gave way to a snapshot
    absl::Duration least;          // is charged if it took less
  };

  BusJobKind kind;
  size_t asker = 0;
  std::optional<double> share;         // above 0, in place of the kind's
  std::optional<absl::Duration> cost;  // likewise
  // Called once on the collector's thread, or again if it gave way. A snapshot is due at the steady time `due`.
  std::function<Ran(MailboxSession& session, absl::Duration due)> run;
  // Called in place of `run` if the job does not run: UNAVAILABLE or DEADLINE_EXCEEDED.
  std::function<void(const absl::Status& why)> refuse;
};

// Add, Remove and Close are thread-safe; the others are for the thread that uses the session. No lock is held while a
// function of a job runs.
class BusJobs {
 public:
  // Total number of times that a job is begun: one that always has to give way must not keep the bus busy.
  static constexpr int kBeginsMax = 3;

  // `session` and `clock` must outlive it; `wake` is called after each accepted job, and must not block.
  BusJobs(MailboxSession& session, const Clock& clock, std::function<void()> wake)
      : session_(session), clock_(clock), wake_(std::move(wake)) {}

  // Returns the number of the job. After an error none of its functions is called: RESOURCE_EXHAUSTED, with the time of
  // a retry, if too many wait or the time of the bus is used up; UNAVAILABLE after Close.
  absl::StatusOr<uint64_t> Add(BusJob job) ABSL_LOCKS_EXCLUDED(mu_);
  // Whether the job still waited. None of its functions is then called, and its charge is returned.
  bool Remove(uint64_t number) ABSL_LOCKS_EXCLUDED(mu_);
  // Refuses all that wait, and all that is added from now on.
  void Close() ABSL_LOCKS_EXCLUDED(mu_);

  // Runs the first job of the kind; returns false if none waits. If the last collection has failed, `is_readable` is
  // false, and the job is refused. `due`: as of BusJob::run. A job that gives way waits again, behind the others and
  // for no longer than before, and after kBeginsMax times is refused.
  bool RunNext(BusJobKind kind, bool is_readable, absl::Duration due) ABSL_LOCKS_EXCLUDED(mu_);
  // Refuses the jobs that have waited too long: to be called while the bus is used for something else.
  void RefuseOverdue() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Waiting {
    uint64_t number = 0;
    BusJob job;
    FairShare::Charge charge;
    absl::Duration refuse_at;  // steady time
    int begins = 0;            // in vain
  };
  struct Queue {
    std::deque<Waiting> waiting;  // the oldest first
    FairShare share;
    std::map<size_t, BusShare> own;  // by asker, where others are not felt
    size_t last_asker = 0;           // whose job ran last
  };

  absl::Status CheckRoom(const BusJobLimits& limits, const Queue& queue, size_t asker) const
      ABSL_SHARED_LOCKS_REQUIRED(mu_);
  absl::Status Take(const BusJobLimits& limits, Queue& queue, FairShare::Charge& charge)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Settle(BusJobKind kind, const FairShare::Charge& charge, absl::Duration used) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::StatusOr<uint64_t> Enqueue(BusJob job) ABSL_LOCKS_EXCLUDED(mu_);
  std::optional<Waiting> Pop(BusJobKind kind) ABSL_LOCKS_EXCLUDED(mu_);
  std::vector<Waiting> PopOverdue() ABSL_LOCKS_EXCLUDED(mu_);
  void Run(Waiting waiting, absl::Duration due) ABSL_LOCKS_EXCLUDED(mu_);
  // Moves from it if it waits again.
  absl::Status WaitAgain(Waiting& waiting, absl::Duration used) ABSL_LOCKS_EXCLUDED(mu_);

  MailboxSession& session_;
  const Clock& clock_;
  const std::function<void()> wake_;
  absl::Mutex mu_;
  bool is_closed_ ABSL_GUARDED_BY(mu_) = false;
  uint64_t last_number_ ABSL_GUARDED_BY(mu_) = 0;
  std::array<Queue, kBusJobKinds> queues_ ABSL_GUARDED_BY(mu_);  // by kind
};

// Why a job is refused whose device is not there at the moment, or for good.
absl::Status NotReachable();
absl::Status NoLongerRead();

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_BUS_JOBS_H_
