// SPDX-License-Identifier: Apache-2.0
#include "daemon/base/periodic_thread.h"

#include <gtest/gtest.h>

#include "absl/synchronization/notification.h"
#include "proto/base/wait_until.h"

namespace sideband::daemon {
namespace {

TEST(PeriodicThreadTest, WorksAgainAndAgainUntilStopped) {
  absl::Notification three;
  int times = 0;
  PeriodicThread thread(absl::Milliseconds(1), [&] {
    if (++times == 3) three.Notify();
  });
  thread.Start();
  WaitUntil(three, "the third time");
  thread.Stop();
  const int until_then = times;
  thread.Stop();
  EXPECT_EQ(times, until_then);
}

TEST(PeriodicThreadTest, StopDoesNotWaitForTheInterval) {
  const TimeLimit limit("the end of a thread that would work in an hour");
  PeriodicThread thread(absl::Hours(1), [] { FAIL() << "an hour has not passed"; });
  thread.Start();
  thread.Stop();
}

TEST(PeriodicThreadTest, NeedNotBeStarted) {
  PeriodicThread(absl::Seconds(1), [] {}).Stop();
}

}  // namespace
}  // namespace sideband::daemon
