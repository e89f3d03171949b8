// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/rotation_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace sideband::mcu {
namespace {

using mailbox::Relation;
using ::testing::HasSubstr;

// Events 0 to 7 on 4 counters, 8 and 9 in another clock domain, 10 in a gate group, 11 masked, 12 prescaled, 13 of the
// device, 14 and 15 only on slice 0, 16 in a gate group and another clock domain, 17 nowhere.
PipelineConfig ExampleChip() {
  PipelineConfig config{.slices = 2, .events = 18, .ccus = {}, .gate_groups = {GateGroup()}};
  for (uint8_t slice = 0; slice < 2; ++slice) {
    CcuSpec ccu{.name = "ccu", .channel = slice, .ulcs = {}};
    UlcSpec core{.name = "core", .inputs = {}, .counters = 4};
    for (uint16_t event = 0; event < 8; ++event) core.inputs.push_back({.wire = event, .meaning = {event, 0}});
    UlcSpec other{.name = "other", .domain = 1, .inputs = {}};
    for (uint16_t event = 8; event < 10; ++event) other.inputs.push_back({.wire = event, .meaning = {event, 0}});
    other.inputs.push_back({.wire = 16, .meaning = {16, 0}, .group = 0});
    UlcSpec odd{.name = "odd", .inputs = {}};
    odd.inputs.push_back({.wire = 10, .meaning = {10, 0}, .group = 0});
    odd.inputs.push_back({.wire = 11, .meaning = {11, 0}, .masked = true});
    odd.inputs.push_back({.wire = 12, .meaning = {12, 0}, .digits = 2});
    if (slice == 0) {
      odd.inputs.push_back({.wire = 14, .meaning = {14, 0}});
      odd.inputs.push_back({.wire = 15, .meaning = {15, 0}});
    }
    ccu.ulcs = {core, other, odd};
    config.ccus.push_back(ccu);
  }
  UlcSpec dram{.name = "dram", .inputs = {{.wire = 0, .meaning = {13, 0}}}};
  config.ccus.push_back({.name = "device", .channel = kDeviceChannel, .ulcs = {dram}});
  config.rotation = RotationSpec();
  return config;
}

std::string Refused(const PipelineConfig& config) {
  const absl::Status status = Validate(config);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

std::string Refused(const Relation& relation) {
  PipelineConfig config = ExampleChip();
  config.relations = {{.members = {0, 1}}, relation};
  return Refused(config);
}

Relation Sum(uint16_t whole, std::vector<uint16_t> members) {
  return {.kind = Relation::Kind::kSum, .members = std::move(members), .whole = whole};
}

TEST(RelationRulesTest, AcceptsWhatFollowsExactly) {
  PipelineConfig config = ExampleChip();
  config.relations = {{.members = {0, 1, 2}, .times = 2},
                      Sum(8, {9}),
                      Sum(14, {15}),
                      {.kind = Relation::Kind::kAtMost, .members = {4}, .whole = 3},
                      {.members = {13}}};
  EXPECT_EQ(Validate(config), absl::OkStatus());
}

TEST(RelationRulesTest, RefusesTheForm) {
  EXPECT_EQ(Refused({.members = {}}), "relation 1: it has no events");
  EXPECT_EQ(Refused({.members = {1, 18}}), "relation 1: event 18 is not of this chip");
  EXPECT_EQ(Refused(Sum(18, {1})), "relation 1: event 18 is not of this chip");
  EXPECT_EQ(Refused({.members = {1, 1}}), "relation 1: event 1 is named twice");
  EXPECT_EQ(Refused({.members = {2, 1}}), "relation 1: its events are not in ascending order");
  EXPECT_EQ(Refused(Sum(1, {0, 1})), "relation 1: event 1 is named twice");
  EXPECT_EQ(Refused({.members = {0, 1}, .times = 0}), "relation 1: times is 0, must be at least 1");
  EXPECT_EQ(Refused({.kind = Relation::Kind::kAtMost, .members = {1, 2}, .whole = 0}),
            "relation 1: an event is at most one other, not several");
}

TEST(RelationRulesTest, RefusesWhatDoesNotFollow) {
  EXPECT_EQ(Refused(Sum(0, {8})), "relation 1: events 8 and 0 are of different clock domains");
  EXPECT_EQ(Refused(Sum(0, {13})), "relation 1: events 13 and 0 are of different scopes");
  EXPECT_EQ(Refused(Sum(0, {10})), "relation 1: events 10 and 0 are of different gate groups");
  EXPECT_EQ(Refused(Sum(0, {14})), "relation 1: events 14 and 0 are of different slices");
  EXPECT_EQ(Refused({.members = {14, 15}}),
            "relation 1: event 14 is not counted on every slice, whose cycles all count");
  EXPECT_EQ(
      Refused({.members = {16}}),
      "relation 1: event 16 is gated, and of a clock of its own, whose cycles with the gate open are not counted");
  EXPECT_EQ(Refused(Sum(0, {11})), "relation 1: event 11 is masked");
  EXPECT_THAT(Refused(Sum(0, {12})), HasSubstr("relation 1: event 12 is counted prescaled"));
  EXPECT_EQ(Refused(Sum(0, {17})), "relation 1: event 17 is counted by no unit");
}

TEST(RelationRulesTest, RefusesTooMany) {
  PipelineConfig config = ExampleChip();
  config.relations.assign(mailbox::kRelationsMax, {.members = {0, 1}});
  EXPECT_EQ(Validate(config), absl::OkStatus());
  config.relations.push_back({.members = {0, 1}});
  EXPECT_THAT(Refused(config), HasSubstr("number of relations is 1025"));
}

TEST(RotationRulesTest, NeedsRotationForMoreEventsThanCounters) {
  PipelineConfig config = ExampleChip();
  EXPECT_EQ(Validate(config), absl::OkStatus());
  config.rotation.reset();
  EXPECT_THAT(Refused(config), HasSubstr("core: number of counters is 8"));
  config = ExampleChip();
  config.ccus.back().ulcs[0].inputs.push_back({.wire = 1, .meaning = {17, 0}});
  config.ccus.back().ulcs[0].counters = 1;
  EXPECT_EQ(Validate(config), absl::OkStatus()) << "units of the device's scope too";
}

TEST(RotationRulesTest, ChecksTimes) {
  PipelineConfig config = ExampleChip();
  mailbox::RotationSettings& settings = config.rotation->settings;
  EXPECT_EQ(ShortestSlot(config), 8u * 511);
  settings.fluctuating_slot = 8 * 511;
  EXPECT_EQ(Validate(config), absl::OkStatus());
  settings.fluctuating_slot -= 1;
  EXPECT_EQ(Refused(config), "fluctuating slot (cycles) is 4087, must be from 4088 to 1000000000000");
  settings.fluctuating_slot = 100'000;
  settings.stable_slot = kSlotCyclesMax + 1;
  EXPECT_THAT(Refused(config), HasSubstr("stable slot (cycles) is 1000000000001"));
  settings.stable_slot = 200'000;
  config.rotation->dead_cycles = 99'999;
  EXPECT_EQ(Validate(config), absl::OkStatus());
  config.rotation->dead_cycles = 100'000;
  EXPECT_EQ(Refused(config), "fluctuating slot (cycles) is 100000, must be from 100001 to 1000000000000");
}

TEST(RotationRulesTest, ChecksWhatIsAskedFor) {
  PipelineConfig config = ExampleChip();
  mailbox::RotationSettings& own = config.rotation->settings;
  own.stable_slot = own.fluctuating_slot = 20'000, own.interval = 12'000;
  mailbox::RotationSettings asked = own;
  const auto low = [&] {
    uint64_t least = 20'000;
    while (asked.stable_slot = asked.interval = least - 1, CheckRequestedSettings(asked, config).ok()) --least;
    return least;
  };
  EXPECT_EQ(low(), 6'000) << "half of the shortest";
  config.rotation->slots_min = 10'000;
  EXPECT_EQ(low(), 10'000);
  config.rotation->slots_min = 1;
  EXPECT_EQ(low(), ShortestSlot(config));
  EXPECT_EQ(CheckRequestedSettings(asked, config).message(),
            "stable slot (cycles) is 4087, must be from 4088 to 1000000000000");
}

TEST(RotationRulesTest, ChecksTheClassifier) {
  PipelineConfig config = ExampleChip();
  config.rotation->settings.interval = 0;
  EXPECT_EQ(Refused(config), "interval (cycles) is 0, must be from 4088 to 1000000000000");
  config.rotation->settings.interval = kSlotCyclesMax + 1;
  EXPECT_THAT(Refused(config), HasSubstr("interval (cycles) is 1000000000001"));
  config = ExampleChip();
  config.rotation->settings.step = 0;
  EXPECT_EQ(Refused(config), "step is 0, must be from 1 to 1000");
  config.rotation->settings.step = 1001;
  EXPECT_EQ(Refused(config), "step is 1001, must be from 1 to 1000");
  config = ExampleChip();
  config.rotation->settings.threshold_per_mille = 1001;
  EXPECT_THAT(Refused(config), HasSubstr("threshold per mille is 1001"));
  config = ExampleChip();
  config.rotation->settings.weights[18] = 1;
  EXPECT_THAT(Refused(config), HasSubstr("event with a weight is 18"));
}

TEST(RotationRulesTest, ChecksFixedEvents) {
  PipelineConfig config = ExampleChip();
  config.rotation->fixed = mailbox::EmptySet(config.events);
  for (size_t event = 0; event < 3; ++event) mailbox::Insert(event, config.rotation->fixed);
  EXPECT_EQ(Validate(config), absl::OkStatus());
  mailbox::Insert(3, config.rotation->fixed);
  EXPECT_EQ(Refused(config), "the fixed events of unit core need 4 counters, it has 4: one at least must be left");
  config.rotation->fixed = mailbox::EmptySet(config.events);
  mailbox::Insert(9, config.rotation->fixed);
  EXPECT_THAT(Refused(config), HasSubstr("event 9 cannot be fixed"));
  config.rotation->fixed = mailbox::EmptySet(config.events);
  mailbox::Insert(40, config.rotation->fixed);
  EXPECT_EQ(Refused(config), "no event 40 to be fixed");
}

TEST(RotationRulesTest, RefusesAnEventThatTurnsAndDoesNot) {
  PipelineConfig config = ExampleChip();
  config.ccus[1].ulcs[2].inputs.push_back({.wire = 3, .meaning = {3, 0}});
  EXPECT_EQ(Refused(config),
            "event 3 is counted by unit core, whose events take turns, and by one with a counter for each");
}

TEST(RotationRulesTest, RefusesSelectionsBeside) {
  PipelineConfig config = ExampleChip();
  config.selections = {mailbox::EmptySet(config.events)};
  EXPECT_EQ(Refused(config), "a chip has selections or a rotation, not both");
}

}  // namespace
}  // namespace sideband::mcu
