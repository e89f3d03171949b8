// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/request_quota.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

class RequestQuotaTest : public testing::Test {
 protected:
  // The number of `requests` back-to-back requests that are admitted.
  int Ask(const std::string& who, int requests) {
    int admitted = 0;
    for (int i = 0; i < requests; ++i) admitted += quota_.Take(who).is_admitted;
    return admitted;
  }

  FakeClock clock_{absl::FromUnixSeconds(1'800'000'000)};
  RequestQuota quota_{{.per_second = 10, .burst = 20}, clock_};
};

TEST_F(RequestQuotaTest, ABurstThenTheRate) {
  EXPECT_EQ(Ask("a", 30), 20);
  for (int second = 0; second < 5; ++second) {
    clock_.Advance(absl::Seconds(1));
    EXPECT_EQ(Ask("a", 30), 10) << second;
  }
  clock_.Advance(absl::Hours(1));
  EXPECT_EQ(Ask("a", 30), 20) << "a rest gives one burst, however long it was";
}

TEST_F(RequestQuotaTest, AtTheRateNobodyIsRefused) {
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(Ask("a", 1), 1) << i;
    clock_.Advance(absl::Milliseconds(100));
  }
}

TEST_F(RequestQuotaTest, EachHasItsOwn) {
  EXPECT_EQ(Ask("greedy", 1000), 20);
  EXPECT_EQ(Ask("modest", 1), 1);
}

TEST_F(RequestQuotaTest, TheTimeToRetryIsTheTimeThatHelps) {
  Ask("a", 20);
  clock_.Advance(absl::Milliseconds(30));
  const RequestQuota::Verdict refused = quota_.Take("a");
  EXPECT_FALSE(refused.is_admitted);
  EXPECT_EQ(refused.retry_after, absl::Milliseconds(70));
  clock_.Advance(refused.retry_after - absl::Milliseconds(1));
  EXPECT_FALSE(quota_.Take("a").is_admitted);
  clock_.Advance(absl::Milliseconds(1));
  EXPECT_TRUE(quota_.Take("a").is_admitted) << "those that were refused have cost nothing";
}

TEST_F(RequestQuotaTest, OnlyTheFirstRefusalIsNew) {
  Ask("a", 20);
  EXPECT_FALSE(quota_.Take("a").is_repeated);
  EXPECT_TRUE(quota_.Take("a").is_repeated);
  clock_.Advance(absl::Milliseconds(100));
  EXPECT_TRUE(quota_.Take("a").is_admitted);
  EXPECT_FALSE(quota_.Take("a").is_repeated);
}

TEST_F(RequestQuotaTest, WhoHasRestedIsForgotten) {
  for (int i = 0; i < 1000; ++i) Ask(absl::StrCat("passer-by ", i), 1);
  Ask("greedy", 20);
  EXPECT_EQ(quota_.remembered(), 1001u);
  clock_.Advance(absl::Milliseconds(1999));
  Ask("greedy", 20);
  clock_.Advance(absl::Milliseconds(1));
  EXPECT_EQ(Ask("last", 1), 1);
  EXPECT_EQ(quota_.remembered(), 2u) << "greedy still owes";
  EXPECT_EQ(Ask("greedy", 5), 1);
}

TEST_F(RequestQuotaTest, ThreadsShareIt) {
  std::atomic<int> admitted = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&] { admitted += Ask("a", 100); });
  }
  EXPECT_EQ(admitted, 20);
}

}  // namespace
}  // namespace sideband::daemon
