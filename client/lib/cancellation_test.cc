// SPDX-License-Identifier: Apache-2.0
#include "client/lib/cancellation.h"

#include <gtest/gtest.h>

#include <thread>

#include "proto/base/wait_until.h"

namespace sideband::client {
namespace {

TEST(CancellationTest, CallsEveryHookOnce) {
  Cancellation cancellation;
  int first = 0, second = 0;
  const Cancellation::Hook one(cancellation, [&] { ++first; });
  const Cancellation::Hook two(cancellation, [&] { ++second; });
  EXPECT_FALSE(cancellation.cancelled());
  cancellation.Cancel();
  cancellation.Cancel();
  EXPECT_TRUE(cancellation.cancelled());
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
}

TEST(CancellationTest, AHookThatComesLateIsCalledAtOnce) {
  Cancellation cancellation;
  cancellation.Cancel();
  int calls = 0;
  const Cancellation::Hook late(cancellation, [&] { ++calls; });
  EXPECT_EQ(calls, 1);
}

TEST(CancellationTest, AHookThatIsGoneIsNotCalled) {
  Cancellation cancellation;
  int calls = 0;
  {
    const Cancellation::Hook gone(cancellation, [&] { ++calls; });
  }
  cancellation.Cancel();
  EXPECT_EQ(calls, 0);
}

TEST(CancellationTest, AWaitEndsWithItOrInTime) {
  Cancellation cancellation;
  EXPECT_FALSE(cancellation.WaitFor(absl::Milliseconds(1)));
  const TimeLimit limit("the end of a wait that is cancelled");
  std::thread canceller([&] { cancellation.Cancel(); });
  EXPECT_TRUE(cancellation.WaitFor(absl::Hours(1)));
  canceller.join();
  EXPECT_TRUE(cancellation.WaitFor(absl::Hours(1))) << "at once";
}

}  // namespace
}  // namespace sideband::client
