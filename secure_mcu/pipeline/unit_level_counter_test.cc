// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/unit_level_counter.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <string>

namespace sideband::mcu {
namespace {

// Wires with random bits, drawn once from a seed.
class RandomWires final : public sim::WireSource {
 public:
  RandomWires(size_t wires, size_t cycles, uint32_t seed) : bits_(wires, std::vector<bool>(cycles)) {
    std::mt19937 random(seed);
    for (auto& wire : bits_) {
      for (size_t cycle = 0; cycle < cycles; ++cycle) wire[cycle] = random() % 3 != 0;
    }
  }
  void AddCounts(sim::CycleRange range, std::span<const sim::WireId> wires, std::span<uint64_t> sums) const override {
    for (size_t i = 0; i < wires.size(); ++i) {
      for (uint64_t cycle = range.begin; cycle < range.end; ++cycle) sums[i] += Bit(wires[i], cycle);
    }
  }
  bool Bit(sim::WireId wire, uint64_t cycle) const { return bits_.at(wire).at(cycle); }

 private:
  std::vector<std::vector<bool>> bits_;
};

// The hardware as specified, one cycle at a time: counters of a fixed width, 6-bit accumulators, and a shift register
// with start and end bit.
class BitByBit {
 public:
  BitByBit(const UnitLevelCounter::Config& config)
      : config_(config), counters_(config.counters()), accumulators_(config.counters()) {}

  void Cycle(const RandomWires& wires, uint64_t cycle, std::span<uint64_t> delivered) {
    size_t wire = 0;
    for (size_t i = 0; i < counters_.size(); ++i) {
      const uint8_t digits = config_.digits.empty() ? 0 : config_.digits[i];
      if (digits == 0) {
        counters_[i] += wires.Bit(config_.wires[wire++], cycle);
      } else {
        for (uint8_t digit = 0; digit < digits; ++digit) {
          accumulators_[i] += uint32_t{wires.Bit(config_.wires[wire++], cycle)} << digit;
        }
        ASSERT_LT(accumulators_[i], 64u) << "an accumulator of 6 bits overflowed";
        for (; (accumulators_[i] & 32) != 0; accumulators_[i] -= 32) ++counters_[i];
      }
      ASSERT_LT(counters_[i], 1u << config_.counter_bits) << "a counter overflowed";
    }
    if (!shift_.empty()) Shift(delivered);
    if (++cycles_in_period_ == config_.period) Snapshot();
  }

 private:
  void Snapshot() {
    ASSERT_TRUE(shift_.empty()) << "the serialiser had not finished";
    shift_.push_back(true);
    for (uint32_t& counter : counters_) {
      for (uint32_t bit = 0; bit < config_.counter_bits; ++bit) shift_.push_back(counter >> bit & 1);
      counter = 0;
    }
    shift_.push_back(true);
    received_.clear();
    cycles_in_period_ = 0;
  }

  void Shift(std::span<uint64_t> delivered) {
    for (uint32_t lane = 0; lane < config_.lanes && !shift_.empty(); ++lane) {
      received_.push_back(shift_.front());
      shift_.pop_front();
    }
    if (!shift_.empty()) return;
    for (size_t i = 0; i < counters_.size(); ++i) {
      for (uint32_t bit = 0; bit < config_.counter_bits; ++bit) {
        delivered[i] += uint64_t{received_[1 + i * config_.counter_bits + bit]} << bit;
      }
    }
  }

  const UnitLevelCounter::Config config_;
  std::vector<uint32_t> counters_;
  std::vector<uint32_t> accumulators_;
  uint32_t cycles_in_period_ = 0;
  std::deque<bool> shift_;
  std::vector<bool> received_;
};

std::vector<sim::WireId> FirstWires(size_t count) {
  std::vector<sim::WireId> wires(count);
  for (size_t i = 0; i < count; ++i) wires[i] = static_cast<sim::WireId>(i);
  return wires;
}

const UnitLevelCounter::Config kConfigs[] = {
    {.wires = FirstWires(45)},                                               // the defaults, full
    {.wires = FirstWires(1), .counter_bits = 1, .period = 1, .lanes = 512},  // the shortest possible period
    {.wires = FirstWires(45), .period = 407},                                // the serialiser just finishes
    {.wires = FirstWires(3), .counter_bits = 4, .period = 15, .lanes = 2},   // narrow counters
    {.wires = FirstWires(7), .counter_bits = 9, .period = 33, .lanes = 2},   // serial time = period
    {.wires = FirstWires(11), .digits = {5, 0, 1, 0, 3}, .period = 100},     // three prescaled numbers of five
};

TEST(UnitLevelCounterTest, DeliversWhatTheBitByBitModelDeliversAtEveryCycle) {
  constexpr uint64_t kCycles = 2500;
  const RandomWires wires(45, kCycles, 1);
  for (const auto& config : kConfigs) {
    ASSERT_TRUE(UnitLevelCounter::Validate(config).ok()) << UnitLevelCounter::Validate(config);
    UnitLevelCounter ulc(config);
    BitByBit model(config);
    ulc.Enable(0);
    std::vector<uint64_t> delivered(config.counters()), expected(config.counters());
    for (uint64_t cycle = 0; cycle < kCycles; ++cycle) {
      model.Cycle(wires, cycle, expected);
      ulc.AdvanceTo(cycle + 1, wires, delivered);
      ASSERT_EQ(delivered, expected) << "period " << config.period << ", after cycle " << cycle;
    }
  }
}

TEST(UnitLevelCounterTest, TheStepsDoNotMatter) {
  constexpr uint64_t kCycles = 20000;
  const RandomWires wires(45, kCycles, 2);
  std::mt19937 random(3);
  for (const auto& config : kConfigs) {
    for (int run = 0; run < 50; ++run) {
      UnitLevelCounter strides(config), single(config);
      strides.Enable(0);
      single.Enable(0);
      std::vector<uint64_t> by_strides(config.counters()), in_one(config.counters());
      const uint64_t end = 1 + random() % (kCycles - 1);
      for (uint64_t cycle = 0; cycle < end; cycle += 1 + random() % 1500) strides.AdvanceTo(cycle, wires, by_strides);
      strides.AdvanceTo(end, wires, by_strides);
      single.AdvanceTo(end, wires, in_one);
      ASSERT_EQ(by_strides, in_one) << "period " << config.period << ", until " << end;
    }
  }
}

TEST(UnitLevelCounterTest, NothingIsLostWhenTheRestIsTaken) {
  const RandomWires wires(2, 1000, 4);
  UnitLevelCounter ulc({.wires = {0, 1}});
  for (const uint64_t end : {11u, 510u, 511u, 512u, 533u, 999u}) {
    std::vector<uint64_t> delivered(2), expected(2);
    ulc.Enable(10);
    ulc.AdvanceTo(end, wires, delivered);
    ulc.TakeHeld(wires, delivered);
    wires.AddCounts({10, end}, std::vector<sim::WireId>{0, 1}, expected);
    EXPECT_EQ(delivered, expected) << end;
  }
}

TEST(UnitLevelCounterTest, APrescaledNumberGivesAThirtySecondOfEachResidencyRoundedDown) {
  const RandomWires wires(5, 3000, 6);
  UnitLevelCounter ulc({.wires = FirstWires(5), .digits = {5}, .period = 37});
  for (const sim::CycleRange residency : {sim::CycleRange{0, 1}, {1, 40}, {40, 77}, {100, 2999}}) {
    std::vector<uint64_t> delivered(1);
    ulc.Enable(residency.begin);
    ulc.AdvanceTo((residency.begin + residency.end) / 2, wires, delivered);
    ulc.TakeHeld(wires, delivered);  // a latch within a residency keeps the remainder
    ulc.AdvanceTo(residency.end, wires, delivered);
    ulc.TakeHeld(wires, delivered);
    ulc.Disable();
    uint64_t sum = 0;
    for (uint64_t cycle = residency.begin; cycle < residency.end; ++cycle) {
      for (sim::WireId wire = 0; wire < 5; ++wire) sum += uint64_t{wires.Bit(wire, cycle)} << wire;
    }
    EXPECT_EQ(delivered[0], sum / 32) << residency.begin;
  }
}

TEST(UnitLevelCounterTest, OtherSourcesAreCountedFromThenOnAndANumberThatStaysLosesNothing) {
  const RandomWires wires(8, 3000, 7);
  UnitLevelCounter ulc({.wires = {}, .digits = {}, .period = 37, .size = 3});
  const auto sum = [&](sim::CycleRange range, sim::WireId first, uint32_t digits) {
    uint64_t sum = 0;
    for (uint64_t cycle = range.begin; cycle < range.end; ++cycle) {
      for (uint32_t digit = 0; digit < digits; ++digit) sum += uint64_t{wires.Bit(first + digit, cycle)} << digit;
    }
    return sum;
  };
  std::vector<uint64_t> before(2), after(3);
  ulc.Connect({.wires = {5, 0, 1, 2}, .digits = {0, 3}, .ids = {5, 0}});
  ulc.Enable(0);
  ulc.AdvanceTo(999, wires, before);
  ulc.TakeHeld(wires, before);
  ulc.Connect({.wires = {0, 1, 2, 3, 4, 6}, .digits = {3, 2, 0}, .ids = {0, 3, 6}});
  ulc.AdvanceTo(2999, wires, after);
  ulc.TakeHeld(wires, after);
  EXPECT_EQ(before[0], sum({0, 999}, 5, 1));
  EXPECT_EQ(before[1], sum({0, 999}, 0, 3) / 32);
  EXPECT_EQ(before[1] + after[0], sum({0, 2999}, 0, 3) / 32);
  EXPECT_EQ(after[1], sum({999, 2999}, 3, 2) / 32);
  EXPECT_EQ(after[2], sum({999, 2999}, 6, 1));
}

// The frame has a place for every counter, with or without a source.
TEST(UnitLevelCounterTest, TheFrameIsAsLongAsTheCounters) {
  const UnitLevelCounter::Config config{.wires = {}, .digits = {}, .period = 100, .size = 10};
  EXPECT_EQ(UnitLevelCounter::FrameBits(config), 2u + 10 * 9);
  EXPECT_TRUE(UnitLevelCounter::Validate(config).ok());
}

TEST(UnitLevelCounterTest, CountsNothingWhileDisabled) {
  const RandomWires wires(1, 2000, 5);
  UnitLevelCounter ulc({.wires = {0}});
  std::vector<uint64_t> delivered(1);
  ulc.AdvanceTo(1000, wires, delivered);
  ulc.Enable(1000);
  ulc.AdvanceTo(1100, wires, delivered);
  ulc.Disable();
  ulc.AdvanceTo(2000, wires, delivered);
  ulc.TakeHeld(wires, delivered);
  EXPECT_EQ(delivered[0], 0u) << "what was held was dropped by Disable";
}

TEST(UnitLevelCounterTest, ValidateNamesTheRange) {
  const struct {
    UnitLevelCounter::Config config;
    const char* message;
  } kCases[] = {
      {{.wires = {}}, "number of counters is 0, must be from 1 to 45"},
      {{.wires = FirstWires(46)}, "number of counters is 46, must be from 1 to 45"},
      {{.wires = FirstWires(1), .counter_bits = 0}, "counter_bits is 0, must be from 1 to 9"},
      {{.wires = FirstWires(1), .counter_bits = 10}, "counter_bits is 10, must be from 1 to 9"},
      {{.wires = FirstWires(1), .period = 0}, "period is 0, must be from 1 to 511"},
      {{.wires = FirstWires(1), .counter_bits = 4, .period = 16}, "period is 16, must be from 1 to 15"},
      {{.wires = FirstWires(1), .lanes = 0}, "lanes is 0, must be from 1 to 512"},
      {{.wires = FirstWires(6), .digits = {6}}, "digits of a prescaled counter is 6, must be from 0 to 5"},
      {{.wires = FirstWires(4), .digits = {5}}, "the counters have 5 wires, 4 are given"},
      {{.wires = FirstWires(45), .period = 406},
       "the serialiser cannot finish in a period: (2 + 45 counters x 9 bits) / 1 lanes = 407 cycles > period 406"},
  };
  for (const auto& test : kCases) EXPECT_EQ(UnitLevelCounter::Validate(test.config).message(), test.message);
}

}  // namespace
}  // namespace sideband::mcu
