// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/bench/register_readers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace sideband::bench {
namespace {

// A poll and a read.
constexpr uint32_t kEagerCycles = kPollCycles + 1;

double Gain(uint32_t counters, uint32_t lookup_cycles) {
  const ReaderCycles cycles = CyclesToRead(counters, {.lookup_cycles = lookup_cycles});
  return static_cast<double>(cycles.patient) / static_cast<double>(cycles.eager);
}

TEST(RegisterReadersTest, APatientReaderWaitsForTheLastValueAndReadsAll) {
  // hpcm and hpcc in cycles 1 and 2; the last value is pushed 2 + 64 · 4 + 2 cycles after the trigger.
  const uint64_t pushed = 2 + 2 + 64 * 4 + 2;
  const uint64_t cycles = CyclesToRead(64, {.hop_cycles = 2, .lookup_cycles = 4}).patient;
  EXPECT_GE(cycles, pushed + 64);
  EXPECT_LE(cycles, pushed + 64 + 2 * kPollCycles);
}

TEST(RegisterReadersTest, EagerIsNeverSlowerWhereAValueTakesAsLongAsAPollAndARead) {
  for (const uint32_t lookup_cycles : {kEagerCycles, 8u, 16u}) {
    for (uint32_t counters = 1; counters <= 64; ++counters) {
      EXPECT_GE(Gain(counters, lookup_cycles), 1) << counters << " counters, lookup " << lookup_cycles;
    }
  }
}

TEST(RegisterReadersTest, TheGainGrowsWithTheCounters) {
  for (const uint32_t lookup_cycles : {kEagerCycles, 8u, 16u}) {
    for (uint32_t counters = 2; counters <= 32; counters *= 2) {
      EXPECT_LT(Gain(counters, lookup_cycles), Gain(2 * counters, lookup_cycles))
          << counters << " counters, lookup " << lookup_cycles;
    }
  }
}

TEST(RegisterReadersTest, EagerSavesASixthOf64Counters) { EXPECT_GE(Gain(64, 4), 1.2); }

TEST(RegisterReadersTest, PollingCostsMoreThanItSavesWhereValuesArriveFaster) {
  EXPECT_LT(Gain(64, 1), 1);
  EXPECT_LT(Gain(64, 2), 1);
}

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
