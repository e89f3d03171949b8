// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/bus_jobs.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "daemon/base/clock.h"
#include "daemon/base/retry_after.h"
#include "daemon/mailbox/fake_mailbox.h"
#include "daemon/mailbox/register_port.h"
#include "proto/base/wait_until.h"

namespace sideband::daemon {
namespace {

using absl::Milliseconds;
using absl::Seconds;
using absl::StatusCode;
using absl::ZeroDuration;

TEST(BusShareTest, ABurstAndThenTheAverage) {
  BusShare share;
  absl::Duration now = Seconds(100);
  // A tenth of a second's time: ten peeks of 10 ms.
  for (int i = 0; i < 10; ++i) EXPECT_EQ(share.Take(0.1, Milliseconds(10), now), ZeroDuration()) << i;
  EXPECT_EQ(share.Take(0.1, Milliseconds(10), now), Milliseconds(100));
  EXPECT_EQ(share.Take(0.1, Milliseconds(10), now), Milliseconds(100)) << "a rejection costs nothing";
  EXPECT_EQ(share.Take(0.1, Milliseconds(10), now + Milliseconds(99)), Milliseconds(1));
  EXPECT_EQ(share.Take(0.1, Milliseconds(10), now + Milliseconds(100)), ZeroDuration());
}

TEST(BusShareTest, NoPeriodHasMoreThanItsShareAndABurst) {
  BusShare share;
  absl::Duration used, now;
  for (; now < Seconds(60); now += Milliseconds(7)) {
    if (share.Take(0.25, Milliseconds(13), now) == ZeroDuration()) used += Milliseconds(13);
  }
  EXPECT_LE(used, 0.25 * (now + BusShare::kBurst));
  EXPECT_GE(used, 0.25 * (now - Milliseconds(100))) << "and nothing of it is lost";
}

TEST(BusShareTest, WhatItReallyTookIsCharged) {
  BusShare share;
  EXPECT_EQ(share.Take(0.5, ZeroDuration(), Seconds(1)), ZeroDuration());
  share.Settle(0.5, ZeroDuration(), Seconds(2));
  EXPECT_EQ(share.Take(0.5, Milliseconds(1), Seconds(1)), Seconds(3) + Milliseconds(2));
  share.Settle(0.5, Seconds(2), ZeroDuration());  // was not carried out
  EXPECT_EQ(share.Take(0.5, Milliseconds(1), Seconds(1)), ZeroDuration());
}

TEST(BusShareTest, ALongOneIsAdmittedAlone) {
  BusShare share;
  EXPECT_EQ(share.Take(0.1, Seconds(1), Seconds(5)), ZeroDuration());
  EXPECT_EQ(share.Take(0.1, Seconds(1), Seconds(5)), Seconds(10));
  EXPECT_EQ(share.Take(0.1, Seconds(1), Seconds(15)), ZeroDuration());
}

constexpr double kShare = 0.1;
constexpr absl::Duration kCost = Milliseconds(10);

class FairShareTest : public testing::Test {
 protected:
  bool Take(size_t asker) {
    FairShare::Charge charge{.asker = asker, .of = kShare, .cost = kCost};
    return share_.Take(charge, now_) == ZeroDuration();
  }
  // Each millisecond the askers ask in this order. Returns the bus time that each of them gets.
  std::vector<absl::Duration> Compete(const std::vector<size_t>& askers, absl::Duration period) {
    std::vector<absl::Duration> used(askers.size());
    for (const absl::Duration end = now_ + period; now_ < end; now_ += Milliseconds(1)) {
      for (size_t i = 0; i < askers.size(); ++i) used[i] += Take(askers[i]) ? kCost : ZeroDuration();
    }
    return used;
  }

  FairShare share_;
  absl::Duration now_ = Seconds(100);
};

TEST_F(FairShareTest, OneWhoAsksAloneHasAll) { EXPECT_GE(Compete({7}, Seconds(20))[0], kShare * Seconds(20)); }

TEST_F(FairShareTest, ThoseWhoAlwaysAskHaveTheSame) {
  // Who asks first each time has no more than the others, and one who comes later has its part.
  Compete({1}, Seconds(5));
  const auto used = Compete({1, 2, 3}, Seconds(30));
  for (const absl::Duration one : used) EXPECT_GE(one, 0.9 * kShare / 3 * Seconds(30));
  EXPECT_LE(used[0] + used[1] + used[2], kShare * (Seconds(30) + BusShare::kBurst)) << "not beyond the whole";
}

TEST_F(FairShareTest, APartIsGivenUpWhenItsAskerHasGone) {
  Compete({1, 2}, Seconds(5));
  Compete({1}, FairShare::kPartKept + BusShare::kBurst);
  EXPECT_GE(Compete({1}, Seconds(20))[0], 0.95 * kShare * Seconds(20));
}

TEST_F(FairShareTest, WhatWasNotUsedIsGivenBackToBoth) {
  FairShare::Charge charge{.asker = 1, .of = kShare, .cost = kShare * BusShare::kBurst};
  ASSERT_EQ(share_.Take(charge, now_), ZeroDuration());
  EXPECT_FALSE(Take(1));
  EXPECT_FALSE(Take(2));
  share_.Settle(charge, ZeroDuration());
  EXPECT_TRUE(Take(1));
  EXPECT_TRUE(Take(2));
}

TEST_F(FairShareTest, ARejectionCostsNothing) {
  FairShare::Charge all{.asker = 1, .of = kShare, .cost = kShare * BusShare::kBurst};
  ASSERT_EQ(share_.Take(all, now_), ZeroDuration());
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(Take(2));
  now_ += kCost / kShare;
  EXPECT_TRUE(Take(2));
}

constexpr BusJobKind kKind = BusJobKind::kPeek;
const size_t kWaitingMax = LimitsOf(kKind).waiting_max;
const size_t kWaitingOfAskerMax = LimitsOf(kKind).waiting_of_asker_max;
const absl::Duration kWaitMax = LimitsOf(kKind).wait_max;

struct Price {
  double share = BusJob::kUnlimited;
  absl::Duration time;
};

class BusJobsTest : public testing::Test {
 protected:
  absl::StatusOr<uint64_t> Add(const Price& price = {}, size_t asker = 0) {
    return jobs_.Add({.kind = kKind,
                      .asker = asker,
                      .share = price.share,
                      .cost = price.time,
                      .run =
                          [this, number = next_++](MailboxSession&, absl::Duration) {
                            clock_.Advance(takes_);
                            ran_.push_back(number);
                            return gives_way_ ? BusJob::Ran{} : BusJob::Ran{.answer = [] {}, .least = least_};
                          },
                      .refuse = [this](const absl::Status& why) { codes_.push_back(why.code()); }});
  }
  bool Run() { return jobs_.RunNext(kKind, /*is_readable=*/true, absl::InfiniteDuration()); }
  // Lets the next job give way after it has used the bus.
  void GiveWay(absl::Duration used) {
    takes_ = used;
    gives_way_ = true;
    EXPECT_TRUE(Run());
    gives_way_ = false;
    takes_ = absl::ZeroDuration();
  }

  FakeClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  FakeMailbox device_;
  RegisterPort port_{device_, FakeMailbox::kAddress, [](absl::string_view) {}};
  MailboxSession session_{port_, [](absl::Duration) {}};
  int next_ = 1;                   // number of the next job
  std::vector<int> ran_;           // numbers of the jobs
  std::vector<StatusCode> codes_;  // of the refusals
  absl::Duration takes_, least_;   // of each job
  bool gives_way_ = false;         // likewise
  std::atomic<int> wakes_ = 0;
  BusJobs jobs_{session_, clock_, [this] { ++wakes_; }};
};

TEST_F(BusJobsTest, TheOldestIsTaken) {
  EXPECT_FALSE(Run());
  ASSERT_TRUE(Add().ok());
  ASSERT_TRUE(Add().ok());
  EXPECT_EQ(wakes_, 2);
  EXPECT_TRUE(ran_.empty()) << "the bus is the collector's";
  EXPECT_TRUE(Run());
  EXPECT_EQ(ran_, std::vector<int>{1});
  EXPECT_TRUE(Run());
  EXPECT_EQ(ran_, (std::vector<int>{1, 2}));
  EXPECT_FALSE(Run());
  EXPECT_TRUE(codes_.empty());
}

TEST_F(BusJobsTest, ItIsBounded) {
  for (size_t i = 0; i < kWaitingMax; ++i) ASSERT_TRUE(Add({}, i).ok());
  const absl::Status full = Add().status();
  EXPECT_EQ(full.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(full.message(), "too many peeks wait for the device's bus; retry in 1s");
  Run();
  EXPECT_TRUE(Add().ok());
}

TEST_F(BusJobsTest, NoAskerTakesAllPlaces) {
  for (size_t i = 0; i < kWaitingOfAskerMax; ++i) ASSERT_TRUE(Add().ok());
  EXPECT_EQ(Add().status().message(), "too many peeks wait for the device's bus; retry in 1s");
  EXPECT_TRUE(Add({}, /*asker=*/1).ok());
  Run();
  EXPECT_TRUE(Add().ok());
}

TEST_F(BusJobsTest, NoAskerTakesTheWholeShare) {
  const Price price = {.share = 0.1, .time = Milliseconds(10)};
  // Both ask as often as they can, one of them always first.
  int answered[2] = {};
  least_ = price.time;
  for (int i = 0; i < 60'000; ++i) {
    for (const size_t asker : {0, 1}) answered[asker] += Add(price, asker).ok();
    while (Run()) continue;
    clock_.Advance(Milliseconds(1));
  }
  EXPECT_GE(answered[0], 290);
  EXPECT_GE(answered[1], 290) << "half of 60 s' tenth, less what the other had at first";
  EXPECT_LE(answered[0] + answered[1], 610);
}

TEST_F(BusJobsTest, TheShareIsKept) {
  const Price price = {.share = 0.1, .time = Milliseconds(50)};
  EXPECT_TRUE(Add(price).ok());
  EXPECT_TRUE(Add(price).ok());
  const absl::Status used_up = Add(price).status();
  EXPECT_EQ(used_up.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(used_up.message(), "the bus time for peeks of the device is used up; retry in 1s");
  EXPECT_EQ(RetryAfter(used_up), absl::Seconds(1)) << "of half a second";
  clock_.Advance(Milliseconds(500));
  EXPECT_TRUE(Add(price).ok());
}

TEST_F(BusJobsTest, TheTimeThatItTookIsWhatCounts) {
  const Price price = {.share = 0.1};
  ASSERT_TRUE(Add(price).ok());
  takes_ = Milliseconds(300);
  Run();
  EXPECT_EQ(RetryAfter(Add(price).status()), absl::Seconds(2));
}

TEST_F(BusJobsTest, WhatIsRemovedIsNotAnsweredAndCostsNothing) {
  const Price price = {.share = 0.1, .time = Milliseconds(100)};
  const uint64_t number = *Add(price);
  EXPECT_FALSE(Add(price).ok());
  EXPECT_TRUE(jobs_.Remove(number));
  EXPECT_FALSE(jobs_.Remove(number));
  EXPECT_TRUE(Add(price).ok());
  Run();
  EXPECT_FALSE(jobs_.Remove(number + 1)) << "it has run";
  EXPECT_TRUE(codes_.empty());
}

TEST_F(BusJobsTest, WhoHasWaitedTooLongIsAnsweredSo) {
  const Price price = {.share = 0.01, .time = absl::Seconds(1)};
  ASSERT_TRUE(Add(price).ok());
  clock_.Advance(kWaitMax + absl::Nanoseconds(1));
  EXPECT_FALSE(Run());
  EXPECT_EQ(codes_, (std::vector<StatusCode>{StatusCode::kDeadlineExceeded}));
  EXPECT_TRUE(Add(price).ok()) << "it has used nothing";
  clock_.Advance(kWaitMax);
  EXPECT_TRUE(Run());
}

TEST_F(BusJobsTest, WhoHasWaitedTooLongIsAnsweredWhileTheBusIsBusy) {
  for (size_t i = 0; i < kWaitingMax; ++i) {
    ASSERT_TRUE(Add({}, i).ok());
    clock_.Advance(Milliseconds(1));
  }
  clock_.Advance(kWaitMax - Milliseconds(14));
  jobs_.RefuseOverdue();
  EXPECT_EQ(codes_, (std::vector<StatusCode>(2, StatusCode::kDeadlineExceeded)));
  EXPECT_TRUE(Add().ok()) << "there is room again";
  Run();
  EXPECT_EQ(ran_, std::vector<int>{3});
}

TEST_F(BusJobsTest, WhatIsPutBackWaitsBehindTheOthers) {
  ASSERT_TRUE(Add().ok());
  ASSERT_TRUE(Add().ok());
  GiveWay(absl::ZeroDuration());
  Run();
  EXPECT_EQ(ran_, (std::vector<int>{1, 2}));
  clock_.Advance(kWaitMax);
  GiveWay(absl::ZeroDuration());
  EXPECT_EQ(ran_, (std::vector<int>{1, 2, 1}));
  clock_.Advance(Milliseconds(1));
  EXPECT_FALSE(Run());
  EXPECT_EQ(codes_, (std::vector<StatusCode>{StatusCode::kDeadlineExceeded})) << "since it was asked";
}

TEST_F(BusJobsTest, WhatIsPutBackIsBegunThreeTimesAndChargedForAll) {
  const Price price = {.share = 0.1, .time = Milliseconds(100)};
  ASSERT_TRUE(Add(price).ok());
  for (int begin = 0; begin < BusJobs::kBeginsMax; ++begin) {
    EXPECT_TRUE(codes_.empty());
    GiveWay(Milliseconds(50));
  }
  EXPECT_EQ(codes_, (std::vector<StatusCode>{StatusCode::kDeadlineExceeded}));
  EXPECT_FALSE(Run());
  clock_.Advance(Milliseconds(1349));
  EXPECT_FALSE(Add(price).ok()) << "thrice 50 ms, of a tenth";
  clock_.Advance(Milliseconds(1));
  EXPECT_TRUE(Add(price).ok());
}

TEST_F(BusJobsTest, WhatIsPutBackCanBeRemovedAndClosed) {
  const uint64_t number = *Add();
  GiveWay(absl::ZeroDuration());
  EXPECT_TRUE(jobs_.Remove(number));
  ASSERT_TRUE(jobs_
                  .Add({.kind = kKind,
                        .share = BusJob::kUnlimited,
                        .run =
                            [this](MailboxSession&, absl::Duration) {
                              jobs_.Close();
                              return BusJob::Ran{};
                            },
                        .refuse = [this](const absl::Status& why) { codes_.push_back(why.code()); }})
                  .ok());
  Run();
  EXPECT_EQ(codes_, (std::vector<StatusCode>{StatusCode::kUnavailable}));
}

TEST_F(BusJobsTest, ClosedItAnswersAllAndTakesNone) {
  ASSERT_TRUE(Add().ok());
  ASSERT_TRUE(Add().ok());
  jobs_.Close();
  EXPECT_EQ(codes_, (std::vector<StatusCode>{StatusCode::kUnavailable, StatusCode::kUnavailable}));
  EXPECT_EQ(Add().status().code(), StatusCode::kUnavailable);
  EXPECT_FALSE(Run());
}

// Each job is answered once or withdrawn, whatever comes at the same time.
TEST_F(BusJobsTest, ServersAndTheCollectorMeet) {
  constexpr int kServers = 3, kJobs = 500;
  std::atomic<int> answered = 0, withdrawn = 0, rejected = 0;
  std::atomic<bool> is_over = false;
  std::thread collector([&] {
    while (!is_over) Run();
  });
  std::vector<std::thread> servers;
  for (size_t server = 0; server < kServers; ++server) {
    servers.emplace_back([&, server] {
      for (int i = 0; i < kJobs; ++i) {
        const auto number = jobs_.Add(
            {.kind = kKind,
             .asker = server,
             .share = BusJob::kUnlimited,
             .run = [&](MailboxSession&, absl::Duration) { return BusJob::Ran{.answer = [&] { ++answered; }}; },
             .refuse = [&](const absl::Status&) { ++answered; }});
        if (!number.ok()) {
          ++rejected;
        } else if (i % 2 == 0 && jobs_.Remove(*number)) {
          ++withdrawn;
        }
      }
    });
  }
  const TimeLimit limit("the end of the threads");
  for (std::thread& server : servers) server.join();
  jobs_.Close();
  is_over = true;
  collector.join();
  EXPECT_EQ(answered + withdrawn + rejected, kServers * kJobs);
}

}  // namespace

}  // namespace sideband::daemon
