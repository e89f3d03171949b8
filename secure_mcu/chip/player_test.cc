// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/player.h"

#include <gtest/gtest.h>

namespace sideband::mcu {
namespace {

// Every wire is always 1. Records the switches.
class NotingWires final : public sim::WireSource {
 public:
  void AddCounts(sim::CycleRange range, std::span<const sim::WireId>, std::span<uint64_t> sums) const override {
    for (uint64_t& sum : sums) sum += range.size();
  }
  void SwitchIn(absl::string_view vm, absl::string_view context, uint64_t cycle) override {
    notes.push_back(std::string(vm) + "/" + std::string(context) + "@" + std::to_string(cycle));
  }
  void SwitchOut(uint64_t cycle) override { notes.push_back("-@" + std::to_string(cycle)); }

  std::vector<std::string> notes;
};

class PlayerTest : public testing::Test {
 protected:
  PlayerTest() {
    PipelineConfig config{.slices = 1, .events = 1};
    config.ccus = Pack("slice0", 0, {{.wire = 0, .meaning = {0, 0}}}, UlcSpec{});
    chip_ = *Chip::Create(config);
    chip_->Attach(0, wires_);
    chip_->Attach(kDeviceChannel, wires_);
    vm_ = chip_->memory().Create(1, mailbox::kNoContext);
    for (uint16_t id = 0; id < 2; ++id) {
      const BlockId context = chip_->memory().Create(1, id);
      tenants_.push_back({"vm1", "c" + std::to_string(id), Binding{vm_, context}});
    }
  }
  uint64_t Count(size_t tenant) const { return chip_->memory().counters(*tenants_[tenant].binding.context)[0]; }

  NotingWires wires_;
  std::unique_ptr<Chip> chip_;
  BlockId vm_;
  std::vector<Tenant> tenants_;
};

TEST_F(PlayerTest, PlaysAScheduleOnce) {
  ScheduleTimeline timeline({{5, 10, "vm1", "c0"}, {10, 11, "vm1", "c1"}}, tenants_, 0);
  Player player(*chip_, timeline, {&wires_});
  player.PlayTo(1000);
  EXPECT_EQ(Count(0), 5u);
  EXPECT_EQ(Count(1), 1u);
  EXPECT_EQ(wires_.notes, (std::vector<std::string>{"vm1/c0@5", "vm1/c1@10", "-@11"})) << "one switch at cycle 10";
}

TEST_F(PlayerTest, RepeatsAScheduleAndCutsItAtTheTurn) {
  ScheduleTimeline timeline({{0, 4, "vm1", "c0"}, {6, 99, "vm1", "c1"}, {200, 300, "vm1", "c0"}}, tenants_, 10);
  Player player(*chip_, timeline, {&wires_});
  player.PlayTo(35);
  chip_->Latch();
  EXPECT_EQ(Count(0), 16u) << "four turns of four cycles";
  EXPECT_EQ(Count(1), 12u) << "three turns of four cycles, cut by the turn's end";
}

TEST_F(PlayerTest, VacateEndsTheResidency) {
  ScheduleTimeline timeline({{0, 1000, "vm1", "c0"}}, tenants_, 0);
  Player player(*chip_, timeline, {&wires_});
  player.PlayTo(7);
  player.Vacate();
  EXPECT_EQ(Count(0), 7u);
  EXPECT_EQ(chip_->resident(0), std::nullopt);
}

}  // namespace
}  // namespace sideband::mcu
