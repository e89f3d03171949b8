// SPDX-License-Identifier: Apache-2.0
#include "client/cpp/backoff.h"

#include <gtest/gtest.h>

namespace sideband::library {
namespace {

constexpr Backoff::Options kOptions{.min = absl::Seconds(1), .max = absl::Seconds(5)};

TEST(BackoffTest, DelaysDoubleUpToTheBound) {
  Backoff backoff(kOptions, [] { return 0.0; });
  for (const int seconds : {1, 2, 4, 5, 5}) EXPECT_EQ(backoff.Next(), absl::Seconds(seconds));
  EXPECT_EQ(backoff.attempts(), 5u);
  backoff.Reset();
  EXPECT_EQ(backoff.attempts(), 0u);
  EXPECT_EQ(backoff.Next(), absl::Seconds(1));
}

TEST(BackoffTest, APartOfEachIsLeftOutAtRandom) {
  double number = 0;
  Backoff backoff(kOptions, [&] { return number; });
  number = 0.5;
  EXPECT_EQ(backoff.Next(), absl::Milliseconds(750));
  number = 0.999;
  const absl::Duration delay = backoff.Next();
  EXPECT_GT(delay, absl::Seconds(1));
  EXPECT_LT(delay, absl::Milliseconds(1002));
}

}  // namespace
}  // namespace sideband::library
