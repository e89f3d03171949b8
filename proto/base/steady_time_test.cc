// SPDX-License-Identifier: Apache-2.0
#include "proto/base/steady_time.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <csignal>
#include <thread>

#include "proto/base/wait_until.h"

namespace sideband {
namespace {

struct Door {
  absl::Mutex mu;
  SteadyCondVar changed;
  bool is_open ABSL_GUARDED_BY(mu) = false;

  bool AwaitOpen(absl::Duration timeout) {
    absl::MutexLock lock(&mu);
    return changed.AwaitFor(mu, absl::Condition(&is_open), timeout);
  }
  void Open() {
    absl::MutexLock lock(&mu);
    is_open = true;
    changed.NotifyAll();
  }
};

TEST(SteadyCondVarTest, WaitsForAsLongAsItIsAsked) {
  Door door;
  const absl::Duration start = SteadyNow();
  EXPECT_FALSE(door.AwaitOpen(absl::Milliseconds(20)));
  EXPECT_GE(SteadyNow() - start, absl::Milliseconds(20));
}

TEST(SteadyCondVarTest, DoesNotWaitForWhatIsThere) {
  Door door;
  door.Open();
  EXPECT_TRUE(door.AwaitOpen(absl::InfiniteDuration()));
  EXPECT_TRUE(door.AwaitOpen(absl::ZeroDuration()));
}

TEST(SteadyCondVarTest, ATimeoutThatIsOverDoesNotWait) {
  Door door;
  EXPECT_FALSE(door.AwaitOpen(absl::ZeroDuration()));
  EXPECT_FALSE(door.AwaitOpen(-absl::InfiniteDuration()));
}

TEST(SteadyCondVarTest, EveryWaiterIsWoken) {
  Door door;
  bool first = false, second = false;
  const TimeLimit limit("both waiters to be woken");
  std::thread one([&] { first = door.AwaitOpen(absl::InfiniteDuration()); });
  std::thread two([&] { second = door.AwaitOpen(absl::Hours(1)); });
  door.Open();
  one.join();
  two.join();
  EXPECT_TRUE(first);
  EXPECT_TRUE(second);
}

TEST(SteadyCondVarTest, AWakeUpWithoutTheConditionIsNotItsEnd) {
  Door door;
  bool met = false;
  const TimeLimit limit("the door to be open");
  std::thread waiter([&] { met = door.AwaitOpen(absl::InfiniteDuration()); });
  for (int i = 0; i < 100; ++i) door.changed.NotifyAll();
  door.Open();
  waiter.join();
  EXPECT_TRUE(met);
}

TEST(SteadySleepTest, SleepsForAtLeastThatLong) {
  const absl::Duration start = SteadyNow();
  EXPECT_TRUE(SteadySleep(absl::Milliseconds(5)));
  EXPECT_GE(SteadyNow() - start, absl::Milliseconds(5));
  EXPECT_TRUE(SteadySleep(absl::ZeroDuration()));
  EXPECT_TRUE(SteadySleep(-absl::InfiniteDuration()));
}

TEST(SteadySleepTest, ASignalEndsIt) {
  struct sigaction action = {};
  action.sa_handler = [](int) {};
  ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
  Door asleep;
  bool whole = true;
  const TimeLimit limit("a signal to end the sleep");
  std::thread sleeper([&] {
    whole = SteadySleep(absl::Hours(1));
    asleep.Open();
  });
  // Repeated, because the first signal may arrive before the sleep.
  while (!asleep.AwaitOpen(absl::Milliseconds(1))) pthread_kill(sleeper.native_handle(), SIGUSR1);
  sleeper.join();
  EXPECT_FALSE(whole);
}

}  // namespace
}  // namespace sideband
