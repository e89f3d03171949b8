// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/bench/hpc_retries.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

namespace sideband::bench {
namespace {

constexpr double kRates[] = {1e-5, 1e-4, 1e-3, 1e-2, 1e-1};

double Fraction(const HpcRetries& retries) {
  return static_cast<double>(retries.interrupted) / static_cast<double>(retries.attempts);
}

TEST(HpcRetriesTest, AttemptsAreInterruptedAsOftenAsTheirTimeSays) {
  for (const uint32_t counters : {1, 8, 64}) {
    for (const double rate : kRates) {
      const HpcRetries retries =
          MeasureHpcRetries({.switches_per_cycle = rate, .counters = counters, .attempts = 50'000});
      EXPECT_LE(std::abs(Fraction(retries) - retries.expected), 3 * retries.sigma) << counters << " " << rate;
    }
  }
}

// After an interrupted attempt its answer is still under way, and the next one waits for the manager.
TEST(HpcRetriesTest, AnAttemptThatFollowsAtOnceIsInterruptedMoreOften) {
  const HpcRetryOptions drained{.switches_per_cycle = 3e-2, .counters = 64, .attempts = 20'000};
  HpcRetryOptions at_once = drained;
  at_once.at_once = true;
  EXPECT_GT(Fraction(MeasureHpcRetries(at_once)), Fraction(MeasureHpcRetries(drained)));
}

TEST(HpcRetriesTest, WithoutSwitchesNoneIsInterruptedAndMoreCountersTakeLonger) {
  uint64_t last = 0;
  for (const uint32_t counters : {1, 2, 8, 64}) {
    const HpcRetries retries = MeasureHpcRetries({.counters = counters, .attempts = 100, .at_once = true});
    EXPECT_EQ(retries.interrupted, 0u);
    EXPECT_GT(retries.read_cycles, last);
    last = retries.read_cycles;
  }
}

}  // namespace
}  // namespace sideband::bench
