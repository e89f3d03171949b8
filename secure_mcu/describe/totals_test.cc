// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/describe/totals.h"

#include <gtest/gtest.h>

namespace sideband::mcu {
namespace {

// Two slices with a collection unit each. Slice 0 has two unit-level counters of one event, and a third of a prescaled
// number of seven digits and a masked wire. Slice 1 has a unit-level counter of nine events.
PipelineConfig TinyPipeline() {
  const UlcSpec one{.name = "a", .inputs = {{.wire = 0, .meaning = {0, 0}}}, .counter_bits = 4, .period = 10};
  const UlcSpec number{.name = "n",
                       .inputs = {{.wire = 1, .meaning = {1, 0}, .digits = 5},
                                  {.wire = 6, .meaning = {1, 0}},
                                  {.wire = 7, .meaning = {1, 1}},
                                  {.wire = 8, .meaning = {2, 0}, .masked = true}},
                       .counter_bits = 9,
                       .period = 100};
  UlcSpec nine{.name = "e", .counter_bits = 5, .period = 50};
  for (uint16_t event = 0; event < 9; ++event) nine.inputs.push_back({.wire = event, .meaning = {event, 0}});
  return {
      .slices = 2,
      .events = 10,
      .ccus = {{.name = "s0", .channel = 0, .ulcs = {one, one, number}}, {.name = "s1", .channel = 1, .ulcs = {nine}}},
      .clock_hz = 1000,
      .trigger_period = 100,
      .commit_period = 500,
      .hypervisor_commit_period = 250,
      .out_of_band_commit_period = 0,
      .buffer_depth = 3};
}

TEST(TotalsTest, ARecordHasWhatRecordHNames) { EXPECT_EQ(kRecordBits, 317u); }

TEST(TotalsTest, RegistersByHand) {
  const Registers registers = CountRegisters(TinyPipeline());
  EXPECT_EQ(registers.ulc_counters, 4u + 4 + 4 * 9 + 9 * 5);
  EXPECT_EQ(registers.prescalers, 6u);
  EXPECT_EQ(registers.serialisers, (2u + 4) + (2 + 4) + (2 + 36) + (2 + 45));
  // Slice 0 has three counters: event 0, and event 1 without and with a shift. The five prescaled digits use the
  // counter without a shift.
  EXPECT_EQ(registers.ccu_banks, 2u * 28 * 3 + 2 * 28 * 9);
  EXPECT_EQ(registers.buffer, 3u * 317);
  EXPECT_EQ(registers.reduction_channels, 3u * 10 * 64);
  EXPECT_EQ(registers.total(), 89u + 6 + 97 + 672 + 951 + 1920);
}

TEST(TotalsTest, TheOutOfBandChannelIsOneMore) {
  PipelineConfig config = TinyPipeline();
  config.out_of_band_commit_period = 100;
  EXPECT_EQ(CountRegisters(config).reduction_channels, 4u * 10 * 64);
  EXPECT_EQ(CountTraffic(config, std::vector<double>{0, 0}).rc_to_memory, 640u * (2 * 2 * 2 + 4 + 10));
}

TEST(TotalsTest, TrafficByHand) {
  const Traffic traffic = CountTraffic(TinyPipeline(), std::vector<double>{5, 0});
  EXPECT_EQ(traffic.ulc_to_ccu, 2u * 6 * 100 + 38 * 10 + 47 * 20);
  EXPECT_EQ(traffic.ccu_to_buffer, (1u + 2) * 317 * 10);
  EXPECT_EQ(traffic.switches, 5u * ((1 + 1) * 317 + 2 * 10 * 64));
  EXPECT_EQ(traffic.rc_to_memory, 640u * (2 * 2 * 2 + 4));
  EXPECT_EQ(traffic.beyond_ccu(), 9510u + 9570 + 7680);
}

TEST(TotalsTest, AFlatDesignByHand) {
  const FlatDesign flat = CountFlat(TinyPipeline(), std::vector<double>{5, 0});
  EXPECT_EQ(flat.wires, 1u + 1 + 7 + 9) << "without the masked one";
  EXPECT_EQ(flat.registers, 18u * 64);
  EXPECT_EQ(flat.polls, 18u * 64 * 10);
  EXPECT_EQ(flat.switches, 2u * 9 * 64 * 5);
}

TEST(TotalsTest, APeriodOfNoneMovesNothing) {
  PipelineConfig config = TinyPipeline();
  config.trigger_period = config.commit_period = config.hypervisor_commit_period = 0;
  EXPECT_EQ(CountTraffic(config, std::vector<double>{0, 0}).beyond_ccu(), 0u);
  EXPECT_EQ(CountFlat(config, std::vector<double>{0, 0}).moved(), 0u);
}

// virtual-counters.md's own figures, of a unit with 45 counters of 64 sources.
TEST(TotalsTest, SelectRegistersByHand) {
  PipelineConfig config = TinyPipeline();
  EXPECT_EQ(CountSelects(config), SelectRegisters()) << "no selections, no registers";
  UlcSpec unit{.name = "sm.0", .counter_bits = 9, .period = 511};
  for (uint16_t event = 0; event < 64; ++event) unit.inputs.push_back({.wire = event, .meaning = {event, 0}});
  config.events = 64;
  config.ccus = {{.name = "s0", .channel = 0, .ulcs = {unit, unit}}};
  config.selections = {{0}};
  EXPECT_EQ(CountSelects(config), (SelectRegisters{.bits = 270, .registers = 1})) << "one for both units";
  const CcuSpec ccu = config.ccus[0];
  config.ccus.assign(8, ccu);
  EXPECT_EQ(CountSelects(config).bits, 2160u);
  const Registers registers = CountRegisters(config);
  EXPECT_EQ(registers.ulc_counters, 8u * 2 * 45 * 9) << "counters, not sources";
  EXPECT_EQ(registers.serialisers, 8u * 2 * (2 + 45 * 9));
  EXPECT_EQ(registers.ccu_banks, 8u * 2 * 28 * 45);
  EXPECT_EQ(registers.buffer, 3u * (317 + 8)) << "records say which selection they have";
}

// virtual-counters.md's own figure, of the large chip with as many groups as there can be.
TEST(TotalsTest, GatesByHand) {
  PipelineConfig config = TinyPipeline();
  EXPECT_EQ(CountGates(config).total(), 0u) << "no groups, no gates";
  config.slices = 8;
  config.gate_groups.resize(64);
  EXPECT_EQ(CountGates(config).total(), 8u * (2 * 66 + 64 * 19 + 131));
}

}  // namespace
}  // namespace sideband::mcu
