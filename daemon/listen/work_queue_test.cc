// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/work_queue.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/synchronization/notification.h"
#include "daemon/base/retry_after.h"

namespace sideband::daemon {
namespace {

using Lane = WorkQueue::Lane;

class WorkQueueTest : public testing::Test {
 protected:
  // Occupies the only thread of all lanes but the operators' until `go`.
  void Block(WorkQueue& queue) {
    EXPECT_TRUE(queue
                    .Add(Lane::kScrapes, "blocker",
                         [this] {
                           begun_.Notify();
                           go_.WaitForNotification();
                         })
                    .ok());
    begun_.WaitForNotification();
  }
  std::function<void()> Note(const std::string& what) {
    return [this, what] {
      absl::MutexLock lock(&mu_);
      order_.push_back(what);
    };
  }
  std::vector<std::string> Order() {
    absl::MutexLock lock(&mu_);
    return order_;
  }

  FakeClock clock_{absl::FromUnixSeconds(1'800'000'000)};
  absl::Notification begun_, go_;
  absl::Mutex mu_;
  std::vector<std::string> order_ ABSL_GUARDED_BY(mu_);
};

TEST_F(WorkQueueTest, LanesInOrderAndHoldersInTurn) {
  WorkQueue queue({.threads = 1}, clock_);
  Block(queue);
  for (const char* what : {"a1", "a2", "a3"}) EXPECT_TRUE(queue.Add(Lane::kQueries, "a", Note(what)).ok());
  EXPECT_TRUE(queue.Add(Lane::kHistories, "a", Note("history")).ok());
  EXPECT_TRUE(queue.Add(Lane::kQueries, "b", Note("b1")).ok());
  EXPECT_TRUE(queue.Add(Lane::kScrapes, "a", Note("scrape")).ok());
  go_.Notify();
  queue.Stop();
  EXPECT_EQ(Order(), (std::vector<std::string>{"scrape", "a1", "b1", "a2", "a3", "history"}));
}

TEST_F(WorkQueueTest, OperatorsNeverWaitForOthers) {
  WorkQueue queue({.threads = 1}, clock_);
  Block(queue);
  absl::Notification served;
  EXPECT_TRUE(queue.Add(Lane::kOperators, "operator", [&] { served.Notify(); }).ok());
  served.WaitForNotification();
  go_.Notify();
}

TEST_F(WorkQueueTest, HistoriesLeaveAThread) {
  WorkQueue queue({.threads = 2}, clock_);
  absl::Notification served;
  for (const char* holder : {"a", "b"}) {
    EXPECT_TRUE(queue.Add(Lane::kHistories, holder, [this] { go_.WaitForNotification(); }).ok());
  }
  EXPECT_TRUE(queue.Add(Lane::kQueries, "c", [&] { served.Notify(); }).ok());
  served.WaitForNotification();
  go_.Notify();
}

TEST_F(WorkQueueTest, ProcessorTimeIsOneBudgetOfAllLanes) {
  absl::Duration used;
  WorkQueue queue({.threads = 1,
                   .processor = {.burst = 5, .per_second = 0.25},
                   .processor_time = [&used] { return used += absl::Seconds(3); }},
                  clock_);
  const auto run = [&](Lane lane, const std::string& holder) {
    absl::Notification done;
    const absl::Status status = queue.Add(lane, holder, [&] { done.Notify(); });
    if (status.ok()) done.WaitForNotification();
    return status;
  };
  EXPECT_TRUE(run(Lane::kQueries, "a").ok());
  EXPECT_TRUE(run(Lane::kHistories, "a").ok());
  // Work is charged when it has ended, a moment after it has answered: the next holder's has to wait for that.
  EXPECT_TRUE(run(Lane::kQueries, "b").ok());
  const absl::Status refused = run(Lane::kScrapes, "a");
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(RetryAfter(refused), absl::Seconds(4));  // 1 s of debt
  EXPECT_TRUE(run(Lane::kOperators, "a").ok());
  clock_.Advance(absl::Seconds(4));
  EXPECT_TRUE(run(Lane::kScrapes, "a").ok());
}

TEST_F(WorkQueueTest, AfterTheEndWorkRunsAtOnce) {
  WorkQueue queue({}, clock_);
  queue.Stop();
  EXPECT_TRUE(queue.Add(Lane::kQueries, "a", Note("late")).ok());
  EXPECT_EQ(Order(), std::vector<std::string>{"late"});
}

}  // namespace
}  // namespace sideband::daemon
