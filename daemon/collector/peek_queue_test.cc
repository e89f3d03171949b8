// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/peek_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "daemon/base/retry_after.h"

namespace sideband::daemon {
namespace {

using absl::Milliseconds;
using absl::StatusCode;

class PeekQueueTest : public testing::Test {
 protected:
  absl::StatusOr<uint64_t> Add(const PeekQueue::Price& price = {.share = 1}, size_t asker = 0) {
    return queue_.Add({.events = {1}, .asker = asker}, price,
                      [this](const absl::StatusOr<PeekedBlock>& peeked) { codes_.push_back(peeked.status().code()); });
  }

  FakeClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  std::vector<StatusCode> codes_;  // of the answers
  PeekQueue queue_{clock_};
};

TEST_F(PeekQueueTest, TheOldestIsTaken) {
  EXPECT_FALSE(queue_.Take());
  const uint64_t first = *Add(), second = *Add();
  EXPECT_EQ(queue_.Take()->number, first);
  EXPECT_EQ(queue_.Take()->number, second);
  EXPECT_FALSE(queue_.Take());
  EXPECT_TRUE(codes_.empty()) << "it is for the taker to answer";
}

TEST_F(PeekQueueTest, ItIsBounded) {
  for (size_t i = 0; i < PeekQueue::kWaitingMax; ++i) ASSERT_TRUE(Add({.share = 1}, i).ok());
  const absl::Status full = Add().status();
  EXPECT_EQ(full.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(full.message(), "too many peeks wait for the device's bus; retry in 1s");
  queue_.Take();
  EXPECT_TRUE(Add().ok());
}

TEST_F(PeekQueueTest, NoAskerTakesAllPlaces) {
  for (size_t i = 0; i < PeekQueue::kWaitingOfAskerMax; ++i) ASSERT_TRUE(Add().ok());
  EXPECT_EQ(Add().status().message(), "too many peeks wait for the device's bus; retry in 1s");
  EXPECT_TRUE(Add({.share = 1}, /*asker=*/1).ok());
  queue_.Take();
  EXPECT_TRUE(Add().ok());
}

TEST_F(PeekQueueTest, NoAskerTakesTheWholeShare) {
  const PeekQueue::Price price = {.share = 0.1, .time = Milliseconds(10)};
  // Both ask as often as they can, one of them always first.
  int answered[2] = {};
  for (int i = 0; i < 60'000; ++i) {
    for (const size_t asker : {0, 1}) answered[asker] += Add(price, asker).ok();
    while (queue_.Take()) continue;
    clock_.Advance(Milliseconds(1));
  }
  EXPECT_GE(answered[0], 290);
  EXPECT_GE(answered[1], 290) << "half of 60 s' tenth, less what the other had at first";
  EXPECT_LE(answered[0] + answered[1], 610);
}

TEST_F(PeekQueueTest, TheShareIsKept) {
  const PeekQueue::Price price = {.share = 0.1, .time = Milliseconds(50)};
  EXPECT_TRUE(Add(price).ok());
  EXPECT_TRUE(Add(price).ok());
  const absl::Status used_up = Add(price).status();
  EXPECT_EQ(used_up.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(used_up.message(), "the bus time for peeks of the device is used up; retry in 1s");
  EXPECT_EQ(RetryAfter(used_up), absl::Seconds(1)) << "of half a second";
  clock_.Advance(Milliseconds(500));
  EXPECT_TRUE(Add(price).ok());
}

TEST_F(PeekQueueTest, TheTimeThatItTookIsWhatCounts) {
  const PeekQueue::Price price = {.share = 0.1};
  ASSERT_TRUE(Add(price).ok());
  queue_.Settle(*queue_.Take(), Milliseconds(300));
  EXPECT_EQ(RetryAfter(Add(price).status()), absl::Seconds(2));
}

TEST_F(PeekQueueTest, PeeksCanBeSwitchedOff) {
  EXPECT_EQ(Add({.share = 0}).status(), absl::FailedPreconditionError("peeks are switched off"));
}

TEST_F(PeekQueueTest, WhatIsRemovedIsNotAnsweredAndCostsNothing) {
  const PeekQueue::Price price = {.share = 0.1, .time = Milliseconds(100)};
  const uint64_t number = *Add(price);
  EXPECT_FALSE(Add(price).ok());
  EXPECT_TRUE(queue_.Remove(number));
  EXPECT_FALSE(queue_.Remove(number));
  EXPECT_TRUE(Add(price).ok());
  queue_.Take();
  EXPECT_FALSE(queue_.Remove(number + 1)) << "it was taken";
  EXPECT_TRUE(codes_.empty());
}

TEST_F(PeekQueueTest, WhoHasWaitedTooLongIsAnsweredSo) {
  const PeekQueue::Price price = {.share = 0.01, .time = absl::Seconds(1)};
  ASSERT_TRUE(Add(price).ok());
  clock_.Advance(PeekQueue::kWaitMax + absl::Nanoseconds(1));
  EXPECT_FALSE(queue_.Take());
  EXPECT_EQ(codes_, (std::vector<StatusCode>{StatusCode::kDeadlineExceeded}));
  EXPECT_TRUE(Add(price).ok()) << "it has used nothing";
  clock_.Advance(PeekQueue::kWaitMax);
  EXPECT_TRUE(queue_.Take());
}

TEST_F(PeekQueueTest, WhoHasWaitedTooLongIsAnsweredWhileTheBusIsBusy) {
  for (size_t i = 0; i < PeekQueue::kWaitingMax; ++i) {
    ASSERT_TRUE(Add({.share = 1}, i).ok());
    clock_.Advance(Milliseconds(1));
  }
  clock_.Advance(PeekQueue::kWaitMax - Milliseconds(14));
  queue_.GiveUpOverdue();
  EXPECT_EQ(codes_, (std::vector<StatusCode>(2, StatusCode::kDeadlineExceeded)));
  EXPECT_TRUE(Add().ok()) << "there is room again";
  EXPECT_EQ(queue_.Take()->number, 3u);
}

TEST_F(PeekQueueTest, WhatIsPutBackWaitsBehindTheOthers) {
  const uint64_t first = *Add(), second = *Add();
  queue_.PutBack(*queue_.Take(), absl::ZeroDuration());
  EXPECT_EQ(queue_.Take()->number, second);
  clock_.Advance(PeekQueue::kWaitMax);
  auto again = queue_.Take();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->number, first);
  queue_.PutBack(*std::move(again), absl::ZeroDuration());
  clock_.Advance(Milliseconds(1));
  EXPECT_FALSE(queue_.Take());
  EXPECT_EQ(codes_, (std::vector<StatusCode>{StatusCode::kDeadlineExceeded})) << "since it was asked";
}

TEST_F(PeekQueueTest, WhatIsPutBackIsBegunThreeTimesAndChargedForAll) {
  const PeekQueue::Price price = {.share = 0.1, .time = Milliseconds(100)};
  ASSERT_TRUE(Add(price).ok());
  for (int begin = 0; begin < PeekQueue::kBeginsMax; ++begin) {
    EXPECT_TRUE(codes_.empty());
    queue_.PutBack(*queue_.Take(), Milliseconds(50));
  }
  EXPECT_EQ(codes_, (std::vector<StatusCode>{StatusCode::kDeadlineExceeded}));
  EXPECT_FALSE(queue_.Take());
  clock_.Advance(Milliseconds(1499));
  EXPECT_FALSE(Add(price).ok()) << "thrice 50 ms, of a tenth";
  clock_.Advance(Milliseconds(1));
  EXPECT_TRUE(Add(price).ok());
}

TEST_F(PeekQueueTest, WhatIsPutBackCanBeRemovedAndClosed) {
  const uint64_t number = *Add();
  queue_.PutBack(*queue_.Take(), absl::ZeroDuration());
  EXPECT_TRUE(queue_.Remove(number));
  ASSERT_TRUE(Add().ok());
  auto taken = queue_.Take();
  queue_.Close();
  queue_.PutBack(*std::move(taken), absl::ZeroDuration());
  EXPECT_EQ(codes_, (std::vector<StatusCode>{StatusCode::kUnavailable}));
}

TEST_F(PeekQueueTest, ClosedItAnswersAllAndTakesNone) {
  ASSERT_TRUE(Add().ok());
  ASSERT_TRUE(Add().ok());
  queue_.Close();
  EXPECT_EQ(codes_, (std::vector<StatusCode>{StatusCode::kUnavailable, StatusCode::kUnavailable}));
  EXPECT_EQ(Add().status().code(), StatusCode::kUnavailable);
  EXPECT_FALSE(queue_.Take());
}

// Each peek is answered once or withdrawn, whatever comes at the same time.
TEST_F(PeekQueueTest, ServersAndTheCollectorMeet) {
  constexpr int kServers = 3, kPeeks = 500;
  std::atomic<int> answered = 0, withdrawn = 0, rejected = 0;
  std::atomic<bool> is_over = false;
  std::thread collector([&] {
    while (!is_over) {
      if (const auto peek = queue_.Take()) peek->done(PeekedBlock());
    }
  });
  std::vector<std::thread> servers;
  for (size_t server = 0; server < kServers; ++server) {
    servers.emplace_back([&, server] {
      for (int i = 0; i < kPeeks; ++i) {
        const auto number =
            queue_.Add({.asker = server}, {.share = 1}, [&](const absl::StatusOr<PeekedBlock>&) { ++answered; });
        if (!number.ok()) {
          ++rejected;
        } else if (i % 2 == 0 && queue_.Remove(*number)) {
          ++withdrawn;
        }
      }
    });
  }
  for (std::thread& server : servers) server.join();
  queue_.Close();
  is_over = true;
  collector.join();
  EXPECT_EQ(answered + withdrawn + rejected, kServers * kPeeks);
}

}  // namespace
}  // namespace sideband::daemon
