// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/describe/describe.h"

#include <gtest/gtest.h>

namespace sideband::mcu {
namespace {

// Two slices; the second has an additional unit.
ChipFile TinyChip() {
  ChipFile file{.path = "tiny.yaml", .serial = "S"};
  file.pipeline = {.slices = 2,
                   .clock_hz = 1000,
                   .trigger_period = 100,
                   .commit_period = 500,
                   .hypervisor_commit_period = 0,
                   .buffer_depth = 3};
  const UlcSpec shape{.counter_bits = 4, .period = 10};
  file.units = {{.name = "sm", .count = 3, .events = {{.name = "a"}}, .ulc = shape},
                {.name = "l2", .events = {{.name = "b"}}, .ulc = shape},
                {.name = "extra", .events = {{.name = "a"}}, .ulc = shape, .ccu = "x", .slices = {1}}};
  file.vms = {{.name = "vm1", .contexts = {{.name = "c", .slice = 0}, {.name = "d", .slice = 0}}}};
  file.quantum = absl::Milliseconds(90);
  file.gap = absl::Milliseconds(10);
  return file;
}

TEST(DescribeTest, EqualSiblingsAreFolded) {
  const auto description = Describe(TinyChip());
  ASSERT_TRUE(description.ok()) << description.status();
  ASSERT_EQ(description->slices.size(), 2u) << "the second slice has one collection unit more";
  const CcuGroup& ccu = description->slices[0].ccus[0];
  ASSERT_EQ(ccu.ulcs.size(), 2u) << "units of another name stay apart";
  EXPECT_EQ(ccu.ulcs[0].names.first, "sm.0");
  EXPECT_EQ(ccu.ulcs[0].names.last, "sm.2");
  EXPECT_EQ(ccu.ulcs[0].names.count, 3u);
  EXPECT_EQ(ccu.ulcs[0].serial_cycles, 6u);
  EXPECT_EQ(ccu.counters, 2u);
  EXPECT_EQ(description->slices[1].ccus.size(), 2u);
  EXPECT_EQ(description->slices[1].ccus[1].names.first, "x");
}

TEST(DescribeTest, EqualSlicesAreFolded) {
  ChipFile file = TinyChip();
  file.units.pop_back();
  file.device_units = {{.name = "pcie", .events = {{.name = "tx"}}, .ulc = file.units[0].ulc}};
  const auto description = Describe(file);
  ASSERT_TRUE(description.ok()) << description.status();
  ASSERT_EQ(description->slices.size(), 2u);
  EXPECT_EQ(description->slices[0].names.count, 2u);
  EXPECT_EQ(description->slices[0].names.last, "slice1");
  EXPECT_EQ(description->slices[1].names.first, "device");
}

// A shared unit has counters for each slice.
TEST(DescribeTest, SharedUnitsAreCountedOnceForEachSlice) {
  ChipFile file = TinyChip();
  const auto without = Describe(file);
  file.shared_units = {{.name = "mc", .count = 2, .events = {{.name = "r"}, {.name = "w"}}, .ulc = file.units[0].ulc}};
  const auto with = Describe(file);
  ASSERT_TRUE(with.ok()) << with.status();
  const CcuGroup& ccu = with->slices[0].ccus.back();
  EXPECT_EQ(ccu.names.first, "shared/ccu0");
  ASSERT_EQ(ccu.ulcs.size(), 1u);
  EXPECT_EQ(ccu.ulcs[0].names.first, "mc.0");
  EXPECT_EQ(ccu.ulcs[0].names.count, 2u);
  EXPECT_EQ(with->registers.ulc_counters, without->registers.ulc_counters + 2u * 2 * 2 * 4);
  EXPECT_EQ(with->registers.ccu_banks, without->registers.ccu_banks + 2u * 2 * 2 * 28);
}

TEST(DescribeTest, TotalsByHand) {
  const auto description = Describe(TinyChip());
  ASSERT_TRUE(description.ok()) << description.status();
  EXPECT_EQ(description->events, 2u);
  EXPECT_EQ(description->blocks, 4u) << "the hypervisor's, one VM's and two contexts'";
  EXPECT_EQ(description->block_bytes, 28u + 2 * 8);
  EXPECT_EQ(description->page_table_bytes, 4u * 8);
  EXPECT_EQ(description->registers.ulc_counters, 9u * 4);
  EXPECT_EQ(description->registers.serialisers, 9u * 6);
  EXPECT_EQ(description->registers.ccu_banks, 2u * 28 * (2 + 2 + 1));
  EXPECT_EQ(description->read_path.managers, 5u * (2 * 65 + 5 + 3 * 2)) << "two slices and the device, two events";
  EXPECT_EQ(description->traffic.ulc_to_ccu, 9u * 6 * 100);
  EXPECT_EQ(description->traffic.ccu_to_buffer, 3u * 317 * 10);
  // Slice 0 is switched ten times a second; slice 1 has no contexts.
  EXPECT_EQ(description->traffic.switches, 10u * (2 * 317 + 2 * 2 * 64));
  EXPECT_EQ(description->traffic.rc_to_memory, 2u * 2 * 2 * 64 * 2);
  EXPECT_EQ(description->flat.registers, 9u * 64);
  EXPECT_EQ(description->flat.polls, 9u * 64 * 10);
  EXPECT_EQ(description->flat.switches, 2u * 4 * 64 * 10);
}

TEST(DescribeTest, AContextThatIsAloneWithoutAGapStays) {
  ChipFile file = TinyChip();
  file.vms[0].contexts.pop_back();
  EXPECT_GT(Describe(file)->flat.switches, 0u);
  file.gap = absl::ZeroDuration();
  EXPECT_EQ(Describe(file)->flat.switches, 0u);
}

TEST(DescribeTest, TheOutOfBandChannelIsShownWhereThereIsOne) {
  ChipFile file = TinyChip();
  EXPECT_EQ(Describe(file)->reduction_channels.size(), 2u);
  file.pipeline.out_of_band_commit_period = 100;
  EXPECT_EQ(Describe(file)->reduction_channels.back().name, "out of band");
}

}  // namespace
}  // namespace sideband::mcu
