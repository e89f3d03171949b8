// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/work_queue.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/base/retry_after.h"

namespace sideband::daemon {
namespace {

constexpr int kNice = 10;
// Full budgets are dropped when there are more than this.
constexpr size_t kBudgetsMax = 1024;

// Of the calling thread alone (setpriority(2), "C library/kernel differences"). Where it is not permitted, the order of
// the lanes remains.
void YieldToOthers() { setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kNice); }

}  // namespace

absl::Duration ThreadProcessorTime() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return absl::DurationFromTimespec(time);
}

WorkQueue::WorkQueue(Options options, const Clock& clock) : options_(std::move(options)), clock_(clock) {
  threads_.emplace_back([this] { Serve({Lane::kOperators}, &WorkQueue::HasOperatorsWork); });
  for (int i = 0; i < options_.threads; ++i) {
    threads_.emplace_back([this] {
      YieldToOthers();
      Serve({Lane::kScrapes, Lane::kQueries, Lane::kHistories}, &WorkQueue::HasOthersWork);
    });
  }
}

WorkQueue::~WorkQueue() { Stop(); }

absl::Status WorkQueue::CheckBudget(const std::string& holder) {
  const auto found = budgets_.find(holder);
  if (found == budgets_.end()) return absl::OkStatus();
  const absl::Duration wait = found->second.Charge(0, clock_.Steady());
  if (wait <= absl::ZeroDuration()) return absl::OkStatus();
  return WithRetryAfter(absl::ResourceExhaustedError(absl::StrCat("the identity has used up its processor time, ",
                                                                  options_.processor.per_second, " of a core")),
                        wait);
}

absl::Status WorkQueue::Add(Lane lane, const std::string& holder, std::function<void()> work) {
  {
    absl::MutexLock lock(&mu_);
    if (!is_stopping_) {
      if (lane != Lane::kOperators) {
        if (absl::Status status = CheckBudget(holder); !status.ok()) return status;
      }
      LaneState& state = lanes_[static_cast<size_t>(lane)];
      Line& line = state.lines[holder];
      if (line.works.empty() && !line.is_running) state.turns.push_back(holder);
      line.works.push_back(std::move(work));
      return absl::OkStatus();
    }
  }
  work();
  return absl::OkStatus();
}

bool WorkQueue::MayTake(Lane lane) const {
  const LaneState& state = lanes_[static_cast<size_t>(lane)];
  if (state.turns.empty()) return false;
  // One thread stays for what is quick.
  return lane != Lane::kHistories || state.running < std::max(1, options_.threads - 1);
}

bool WorkQueue::HasOperatorsWork() const { return is_stopping_ || MayTake(Lane::kOperators); }

bool WorkQueue::HasOthersWork() const {
  return is_stopping_ || MayTake(Lane::kScrapes) || MayTake(Lane::kQueries) || MayTake(Lane::kHistories);
}

// The holder whose turn it is.
WorkQueue::Job WorkQueue::TakeFrom(Lane lane) {
  LaneState& state = lanes_[static_cast<size_t>(lane)];
  Job job{.lane = lane, .holder = std::move(state.turns.front())};
  state.turns.pop_front();
  ++state.running;
  Line& line = state.lines[job.holder];
  line.is_running = true;
  job.work = std::move(line.works.front());
  line.works.pop_front();
  return job;
}

std::optional<WorkQueue::Job> WorkQueue::Take(const std::vector<Lane>& lanes) {
  for (const Lane lane : lanes) {
    if (MayTake(lane)) return TakeFrom(lane);
  }
  return std::nullopt;
}

void WorkQueue::Finish(const Job& job, absl::Duration used) {
  LaneState& state = lanes_[static_cast<size_t>(job.lane)];
  --state.running;
  const auto line = state.lines.find(job.holder);
  line->second.is_running = false;
  if (line->second.works.empty()) {
    state.lines.erase(line);
  } else {
    state.turns.push_back(job.holder);
  }
  if (job.lane == Lane::kOperators) return;
  const absl::Duration now = clock_.Steady();
  if (budgets_.size() >= kBudgetsMax) {
    absl::erase_if(budgets_, [now](auto& item) { return item.second.IsFull(now); });
  }
  budgets_.try_emplace(job.holder, options_.processor).first->second.Charge(absl::ToDoubleSeconds(used), now);
}

void WorkQueue::Serve(const std::vector<Lane>& lanes, bool (WorkQueue::*has_work)() const) {
  while (true) {
    std::optional<Job> job;
    {
      absl::MutexLock lock(&mu_);
      mu_.Await(absl::Condition(this, has_work));
      job = Take(lanes);
      // What waits when the queue stops is finished first.
      if (!job) return;
    }
    const absl::Duration start = options_.processor_time();
    job->work();
    // Destroyed here, since it may own what locks.
    job->work = nullptr;
    const absl::Duration used = options_.processor_time() - start;
    absl::MutexLock lock(&mu_);
    Finish(*job, used);
  }
}

void WorkQueue::Stop() {
  {
    absl::MutexLock lock(&mu_);
    is_stopping_ = true;
  }
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

}  // namespace sideband::daemon
