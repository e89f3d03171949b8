// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/write_watch.h"

#include <gtest/gtest.h>

namespace sideband::daemon {
namespace {

using Verdict = WriteWatch::Verdict;

class WriteWatchTest : public testing::Test {
 protected:
  FakeClock clock_{absl::UnixEpoch()};
  WriteWatch watch_{&clock_, absl::Seconds(20)};
};

TEST_F(WriteWatchTest, AStreamIsFinishedOnceThenCancelledOnce) {
  watch_.Begin();
  clock_.Advance(absl::Seconds(20) - absl::Nanoseconds(1));
  EXPECT_EQ(watch_.Check(), Verdict::kGood);
  clock_.Advance(absl::Nanoseconds(1));
  EXPECT_EQ(watch_.Check(), Verdict::kFinish);
  EXPECT_TRUE(watch_.is_finished());
  clock_.Advance(absl::Seconds(19));
  EXPECT_EQ(watch_.Check(), Verdict::kGood);
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(watch_.Check(), Verdict::kCancel);
  clock_.Advance(absl::Hours(1));
  EXPECT_EQ(watch_.Check(), Verdict::kGood);
}

TEST_F(WriteWatchTest, EachWriteHasItsOwnTime) {
  for (int i = 0; i < 5; ++i) {
    watch_.Begin();
    clock_.Advance(absl::Seconds(15));
    EXPECT_EQ(watch_.Check(), Verdict::kGood);
    watch_.End();
  }
  clock_.Advance(absl::Hours(1));
  EXPECT_EQ(watch_.Check(), Verdict::kGood) << "nothing is being written";
}

TEST_F(WriteWatchTest, WithoutHeartbeatsPatienceIsEndless) {
  WriteWatch endless(&clock_, absl::InfiniteDuration()), without_clock(nullptr, absl::Seconds(1));
  endless.Begin();
  without_clock.Begin();
  clock_.Advance(absl::Hours(10'000));
  EXPECT_EQ(endless.Check(), Verdict::kGood);
  EXPECT_EQ(without_clock.Check(), Verdict::kGood);
}

}  // namespace
}  // namespace sideband::daemon
