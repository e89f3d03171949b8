// SPDX-License-Identifier: Apache-2.0
#include "proto/base/wait_until.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace sideband {
namespace {

TEST(WaitUntilTest, ReturnsOnceItIsSo) {
  int asked = 0;
  WaitUntil([&] { return ++asked == 3; }, "the third question");
  EXPECT_EQ(asked, 3);
}

TEST(WaitUntilTest, WhatIsSoIsNotWaitedFor) {
  WaitUntil([] { return true; }, "nothing", absl::ZeroDuration());
  absl::Notification done;
  done.Notify();
  WaitUntil(done, "nothing", absl::ZeroDuration());
}

TEST(WaitUntilTest, ReturnsOnceAThreadHasNotified) {
  std::atomic<bool> is_set = false;
  absl::Notification done;
  std::thread other([&] {
    is_set = true;
    done.Notify();
  });
  WaitUntil(done, "the other thread");
  EXPECT_TRUE(is_set);
  other.join();
}

TEST(WaitUntilDeathTest, InVainItSaysForWhat) {
  EXPECT_DEATH(WaitUntil([] { return false; }, "the moon", absl::Milliseconds(2)), "waited 2ms in vain for the moon");
  const absl::Notification never;
  EXPECT_DEATH(WaitUntil(never, "the sun", absl::Milliseconds(2)), "waited 2ms in vain for the sun");
}

TEST(TimeLimitTest, WhatEndsInTimeGoesOn) {
  bool has_run = false;
  {
    const TimeLimit limit("a thread to end");
    std::thread([&] { has_run = true; }).join();
  }
  EXPECT_TRUE(has_run);
}

TEST(TimeLimitDeathTest, WhatBlocksEndsTheProgram) {
  EXPECT_DEATH(
      {
        const TimeLimit limit("a sleeper to wake", absl::Milliseconds(2));
        SteadySleep(absl::Hours(1));
      },
      "waited 2ms in vain for a sleeper to wake");
}

}  // namespace
}  // namespace sideband
