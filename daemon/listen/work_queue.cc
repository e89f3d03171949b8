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
constexpr uint64_t kReverseEvery = 4;
// Full budgets are dropped when there are more than this.
constexpr size_t kBudgetsMax = 1024;

// For the calling thread alone (setpriority(2), "C library/kernel differences"). Where it is not permitted, the order
// of the lanes remains.
void YieldToOthers() { setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kNice); }

}  // namespace

absl::Duration ThreadProcessorTime() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return absl::DurationFromTimespec(time);
}

WorkQueue::WorkQueue(Options options, const Clock& clock) : options_(std::move(options)), clock_(clock) {
  threads_.emplace_back([this] { ServeOperators(); });
  for (int i = 0; i < options_.threads; ++i) {
    threads_.emplace_back([this] {
      YieldToOthers();
      ServeOthers();
    });
  }
}

WorkQueue::~WorkQueue() { Stop(); }

WorkQueue::Row WorkQueue::RowOf(Lane lane, const Holder& holder) {
  if (holder.is_operator) return lane == Lane::kHistories ? kOperatorsHistories : kOperators;
  switch (lane) {
    case Lane::kScrapes:
      return kScrapes;
    case Lane::kQueries:
      return kQueries;
    case Lane::kHistories:
      return kHistories;
  }
  return kHistories;
}

absl::Status WorkQueue::CheckBudget(Row row, const std::string& holder) {
  const auto found = budgets_.find(holder);
  if (row <= kOperatorsHistories || found == budgets_.end()) return absl::OkStatus();
  const absl::Duration wait = found->second.Charge(0, clock_.Steady());
  if (wait <= absl::ZeroDuration()) return absl::OkStatus();
  return WithRetryAfter(absl::ResourceExhaustedError(absl::StrCat("the identity has used up its processor time, ",
                                                                  options_.processor.per_second, " of a core")),
                        wait);
}

void WorkQueue::Add(Lane lane, const Holder& holder, Work work) {
  const Row row = RowOf(lane, holder);
  absl::Status may;
  {
    absl::MutexLock lock(&mu_);
    may = CheckBudget(row, holder.name);
    if (may.ok() && !is_stopping_) {
      RowState& state = rows_[row];
      Line& line = state.lines[holder.name];
      if (line.works.empty() && !line.is_running) state.turns.push_back(holder.name);
      line.works.push_back(std::move(work));
      return;
    }
  }
  work(may);
}

bool WorkQueue::MayTake(Row row) const {
  const RowState& state = rows_[row];
  if (state.turns.empty()) return false;
  // Slow lanes leave threads to quick ones; each has at least one.
  const int histories = rows_[kOperatorsHistories].running + rows_[kHistories].running;
  const int queries = histories + rows_[kQueries].running;
  if (row == kQueries) return queries < std::max(1, options_.threads - 1);
  if (row == kOperatorsHistories) return histories < std::max(1, options_.threads - 1);
  if (row == kHistories)
    return histories < std::max(1, options_.threads - 2) && queries < std::max(1, options_.threads - 1);
  return true;
}

bool WorkQueue::HasOthersWork() const {
  if (is_stopping_) return true;
  for (size_t row = kOperatorsHistories; row < kRows; ++row) {
    if (MayTake(static_cast<Row>(row))) return true;
  }
  return false;
}

// Takes work of the holder whose turn it is. Time that it has used since the work was added counts.
WorkQueue::Job WorkQueue::TakeFrom(Row row) {
  RowState& state = rows_[row];
  Job job{.row = row, .holder = std::move(state.turns.front())};
  state.turns.pop_front();
  ++state.running;
  Line& line = state.lines[job.holder];
  line.is_running = true;
  job.work = std::move(line.works.front());
  line.works.pop_front();
  job.may = CheckBudget(row, job.holder);
  return job;
}

std::optional<WorkQueue::Job> WorkQueue::TakeOthers(uint64_t turn) {
  std::array<Row, 4> order = {kOperatorsHistories, kScrapes, kQueries, kHistories};
  if (turn % kReverseEvery == 0) std::ranges::reverse(order);
  for (const Row row : order) {
    if (MayTake(row)) return TakeFrom(row);
  }
  return std::nullopt;
}

void WorkQueue::Finish(const Job& job, absl::Duration used) {
  RowState& state = rows_[job.row];
  --state.running;
  const auto line = state.lines.find(job.holder);
  line->second.is_running = false;
  if (line->second.works.empty()) {
    state.lines.erase(line);
  } else {
    state.turns.push_back(job.holder);
  }
  if (job.row <= kOperatorsHistories) return;
  const absl::Duration now = clock_.Steady();
  if (budgets_.size() >= kBudgetsMax) {
    absl::erase_if(budgets_, [now](auto& item) { return item.second.IsFull(now); });
  }
  budgets_.try_emplace(job.holder, options_.processor).first->second.Charge(absl::ToDoubleSeconds(used), now);
}

void WorkQueue::RunOne(Job job) {
  const absl::Duration start = options_.processor_time();
  job.work(job.may);
  // Destroyed here, since it may own what locks.
  job.work = nullptr;
  const absl::Duration used = options_.processor_time() - start;
  absl::MutexLock lock(&mu_);
  Finish(job, used);
}

void WorkQueue::ServeOperators() {
  while (true) {
    std::optional<Job> job;
    {
      absl::MutexLock lock(&mu_);
      mu_.Await(absl::Condition(this, &WorkQueue::HasOperatorsWork));
      // Work that waits when the queue stops is finished first.
      if (MayTake(kOperators)) job = TakeFrom(kOperators);
    }
    if (!job) return;
    RunOne(*std::move(job));
  }
}

void WorkQueue::ServeOthers() {
  for (uint64_t turn = 1;; ++turn) {
    std::optional<Job> job;
    {
      absl::MutexLock lock(&mu_);
      mu_.Await(absl::Condition(this, &WorkQueue::HasOthersWork));
      job = TakeOthers(turn);
    }
    if (!job) return;
    RunOne(*std::move(job));
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
