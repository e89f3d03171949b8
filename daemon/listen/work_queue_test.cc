// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/work_queue.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/synchronization/notification.h"
#include "daemon/base/retry_after.h"
#include "proto/base/wait_until.h"

namespace sideband::daemon {
namespace {

using Lane = WorkQueue::Lane;

class WorkQueueTest : public testing::Test {
 protected:
  // Occupies a thread until `go_`.
  void Block(WorkQueue& queue, Lane lane, const std::string& holder) {
    absl::Notification begun;
    queue.Add(lane, {holder}, [&](const absl::Status&) {
      begun.Notify();
      WaitUntil(go_, "the test to let the work go on");
    });
    WaitUntil(begun, "the work of " + holder + " to begin");
  }
  WorkQueue::Work Note(const std::string& what) {
    return [this, what](const absl::Status& may) {
      EXPECT_TRUE(may.ok());
      absl::MutexLock lock(&mu_);
      order_.push_back(what);
    };
  }
  // Whether it is done before `go_`.
  static void Await(WorkQueue& queue, Lane lane, const WorkQueue::Holder& holder) {
    absl::Notification done;
    queue.Add(lane, holder, [&](const absl::Status&) { done.Notify(); });
    WaitUntil(done, "work that needs not wait for others'");
  }
  std::vector<std::string> Order() {
    absl::MutexLock lock(&mu_);
    return order_;
  }

  FakeClock clock_{absl::FromUnixSeconds(1'800'000'000)};
  absl::Notification go_;
  absl::Mutex mu_;
  std::vector<std::string> order_ ABSL_GUARDED_BY(mu_);
};

TEST_F(WorkQueueTest, LanesInOrderAndHoldersInTurn) {
  WorkQueue queue({.threads = 1}, clock_);
  Block(queue, Lane::kScrapes, "blocker");
  for (const char* what : {"a1", "a2", "a3"}) queue.Add(Lane::kQueries, {"a"}, Note(what));
  queue.Add(Lane::kQueries, {"b"}, Note("b1"));
  queue.Add(Lane::kScrapes, {"a"}, Note("scrape"));
  queue.Add(Lane::kHistories, {"operator", true}, Note("operator's history"));
  go_.Notify();
  queue.Stop();
  // The fourth is the turn of the last lane.
  EXPECT_EQ(Order(), (std::vector<std::string>{"operator's history", "scrape", "a1", "b1", "a2", "a3"}));
}

TEST_F(WorkQueueTest, NoLaneWaitsForEver) {
  WorkQueue queue({.threads = 1}, clock_);
  Block(queue, Lane::kScrapes, "blocker");
  for (int i = 0; i < 100; ++i) queue.Add(Lane::kScrapes, {"a"}, Note("scrape"));
  queue.Add(Lane::kHistories, {"b"}, Note("history"));
  go_.Notify();
  queue.Stop();
  EXPECT_EQ(Order()[2], "history");
}

TEST_F(WorkQueueTest, OperatorsNeverWaitForOthers) {
  WorkQueue queue({.threads = 1}, clock_);
  Block(queue, Lane::kScrapes, "a");
  Await(queue, Lane::kScrapes, {"operator", true});
  Await(queue, Lane::kQueries, {"operator", true});
  go_.Notify();
}

TEST_F(WorkQueueTest, WhatIsSlowLeavesThreadsToWhatIsQuick) {
  WorkQueue queue({.threads = 3}, clock_);
  Block(queue, Lane::kHistories, "a");
  queue.Add(Lane::kHistories, {"b"}, Note("history"));
  Block(queue, Lane::kQueries, "c");
  queue.Add(Lane::kQueries, {"d"}, Note("query"));
  Await(queue, Lane::kScrapes, {"e"});
  EXPECT_TRUE(Order().empty());
  go_.Notify();
  queue.Stop();
  EXPECT_EQ(Order().size(), 2u);
}

TEST_F(WorkQueueTest, ProcessorTimeIsOneBudgetOfAllLanes) {
  WorkQueue queue({.threads = 1,
                   .processor = {.burst = 5, .per_second = 0.25},
                   .processor_time =
                       [] {
                         thread_local absl::Duration used;
                         return used += absl::Seconds(3);
                       }},
                  clock_);
  const auto run = [&](Lane lane, const WorkQueue::Holder& holder) {
    absl::Status status;
    absl::Notification done;
    queue.Add(lane, holder, [&](const absl::Status& may) {
      status = may;
      done.Notify();
    });
    WaitUntil(done, "work to be done or refused");
    return status;
  };
  EXPECT_TRUE(run(Lane::kQueries, {"a"}).ok());
  EXPECT_TRUE(run(Lane::kHistories, {"a"}).ok());
  // Work is charged when it has ended, a moment after it has answered: the next holder's has to wait for that.
  EXPECT_TRUE(run(Lane::kQueries, {"b"}).ok());
  const absl::Status refused = run(Lane::kScrapes, {"a"});
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(RetryAfter(refused), absl::Seconds(4));  // 1 s of debt
  EXPECT_TRUE(run(Lane::kScrapes, {"a", true}).ok());
  clock_.Advance(absl::Seconds(4));
  EXPECT_TRUE(run(Lane::kScrapes, {"a"}).ok());
}

TEST_F(WorkQueueTest, WhatWaitsIsRefusedOnceTheBudgetIsUsedUp) {
  WorkQueue queue({.threads = 1,
                   .processor = {.burst = 5, .per_second = 0.25},
                   .processor_time =
                       [] {
                         thread_local absl::Duration used;
                         return used += absl::Seconds(3);
                       }},
                  clock_);
  Block(queue, Lane::kScrapes, "blocker");
  int admitted = 0;
  for (int i = 0; i < 10; ++i) queue.Add(Lane::kQueries, {"a"}, [&](const absl::Status& may) { admitted += may.ok(); });
  go_.Notify();
  queue.Stop();
  EXPECT_EQ(admitted, 2);
}

TEST_F(WorkQueueTest, AfterTheEndWorkRunsAtOnce) {
  WorkQueue queue({}, clock_);
  queue.Stop();
  queue.Add(Lane::kQueries, {"a"}, Note("late"));
  EXPECT_EQ(Order(), std::vector<std::string>{"late"});
}

}  // namespace
}  // namespace sideband::daemon
