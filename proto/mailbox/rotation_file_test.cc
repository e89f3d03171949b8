// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/rotation_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace sideband {
namespace {

using mailbox::Relation;
using mailbox::RotationProfile;
using ::testing::ElementsAre;

constexpr uint64_t kClockHz = 1'000'000'000;

absl::StatusOr<RotationFile> Read(const std::string& text, RotationUse use = RotationUse::kReplay) {
  const auto node = YamlNode::Parse(text, "r.yaml");
  EXPECT_TRUE(node.ok()) << node.status();
  return ReadRotation(*node, "r.yaml", use);
}

std::string Refused(const std::string& text, RotationUse use = RotationUse::kReplay) {
  const auto file = Read(text, use);
  EXPECT_EQ(file.status().code(), absl::StatusCode::kInvalidArgument) << text;
  return std::string(file.status().message());
}

EventNumbers Numbers() { return EventNumbers({"cycles", "loads", "stores", "memory"}, "r.yaml"); }

mailbox::RotationSettings Settings(const std::string& text) {
  const auto settings = SettingsOf(Read(text).value(), Numbers(), kClockHz);
  EXPECT_TRUE(settings.ok()) << settings.status();
  return settings.value_or(mailbox::RotationSettings());
}

TEST(RotationFileTest, IsFastWithoutKeys) {
  EXPECT_EQ(Settings("{}"), mailbox::RotationSettings()) << "at 1 GHz";
  const RotationFile file = Read("{}").value();
  EXPECT_EQ(file.dead_cycles, 0u);
  EXPECT_FALSE(file.seed.has_value());
  EXPECT_FALSE(file.counters.has_value());
}

TEST(RotationFileTest, HasTheTextsTimesWithTwoSets) {
  const mailbox::RotationSettings settings = Settings("profile: two-set\n");
  EXPECT_EQ(settings.profile, RotationProfile::kTwoSet);
  EXPECT_EQ(settings.stable_slot, 8 * kClockHz);
  EXPECT_EQ(settings.fluctuating_slot, 4 * kClockHz);
  EXPECT_EQ(settings.interval, kClockHz / 2);
  EXPECT_EQ(settings.sets_per_pass, 2u);
  EXPECT_FALSE(settings.adapt);
}

TEST(RotationFileTest, TimesAreOfAnyClock) {
  for (const auto profile : {RotationProfile::kFast, RotationProfile::kTwoSet}) {
    const RotationTerms terms = DefaultTerms(profile);
    const mailbox::RotationSettings at_1_ghz = SettingsOf(terms, kClockHz),
                                    at_1410_mhz = SettingsOf(terms, 1'410'000'000);
    EXPECT_EQ(at_1410_mhz.stable_slot, at_1_ghz.stable_slot * 141 / 100);
    EXPECT_EQ(at_1410_mhz.fluctuating_slot, at_1_ghz.fluctuating_slot * 141 / 100);
    EXPECT_EQ(at_1410_mhz.interval, at_1_ghz.interval * 141 / 100);
  }
  EXPECT_GT(SettingsOf(DefaultTerms(RotationProfile::kTwoSet), ~uint64_t{0}).stable_slot, uint64_t{1} << 61)
      << "a clock that a device made up";
}

TEST(RotationFileTest, ReadsEverySetting) {
  const mailbox::RotationSettings settings = Settings(
      "profile: fast\nslots: {stable: 3us, fluctuating: 64ns}\ninterval: 1ms\nthreshold: 0.125\nstep: 7\n"
      "sets_per_pass: 3\nadapt: false\nweights: {stores: 2.5, loads: 0}\n");
  EXPECT_EQ(settings, (mailbox::RotationSettings{.stable_slot = 3'000,
                                                 .fluctuating_slot = 64,
                                                 .interval = 1'000'000,
                                                 .threshold_per_mille = 125,
                                                 .step = 7,
                                                 .sets_per_pass = 3,
                                                 .adapt = false,
                                                 .weights = {{1, 0}, {2, 2500}}}));
  EXPECT_EQ(Settings("profile: two-set\nsets_per_pass: all\n").sets_per_pass, 0u);
  EXPECT_EQ(SettingsOf(Read("slots: {stable: 1ns}").value(), Numbers(), 1000)->stable_slot, 1u) << "never none";
}

TEST(RotationFileTest, ReadsSeeds) {
  EXPECT_EQ(Read("seed: 12").value().seed, 12u);
  EXPECT_EQ(Read("seed: 0xff").value().seed, 255u);
  EXPECT_EQ(Read("seed: deadbeefdeadbeef").value().seed, 0xdeadbeefdeadbeefu);
  EXPECT_EQ(Read("seed: 18446744073709551615").value().seed, ~uint64_t{0});
  for (const char* wrong : {"seed: 0x", "seed: 1deadbeefdeadbeef", "seed: -1", "seed: x", "seed: [1]"}) {
    EXPECT_EQ(Refused(wrong), "r.yaml:1: 'seed' must be a number of 64 bits: decimal, or up to 16 hexadecimal digits");
  }
}

TEST(RotationFileTest, ReadsWhatAReplayNeeds) {
  const RotationFile file = Read(
                                "counters: 23\nfixed: [cycles]\ndead_cycles: 8\nrelations:\n"
                                "  - {sum: [stores, loads], of: resident_cycles, times: 2}\n"
                                "  - {event: memory, is_sum_of: [loads, stores]}\n"
                                "  - {event: loads, at_most: memory}\n")
                                .value();
  EXPECT_EQ(file.counters, 23u);
  EXPECT_EQ(file.dead_cycles, 8u);
  EXPECT_EQ(Numbers().SetOf(file.fixed).value(), (mailbox::EventSet{1}));
  std::vector<Relation> relations;
  for (const NamedRelation& relation : file.relations) relations.push_back(RelationOf(relation, Numbers()).value());
  EXPECT_THAT(relations, ElementsAre(Relation{.members = {1, 2}, .times = 2},
                                     Relation{.kind = Relation::Kind::kSum, .members = {1, 2}, .whole = 3},
                                     Relation{.kind = Relation::Kind::kAtMost, .members = {3}, .whole = 1}));
}

TEST(RotationFileTest, ReadsWhatIsAskedFor) {
  EXPECT_EQ(Read("events: []\n", RotationUse::kRequest).status().message(), "r.yaml:1: 'events' has no event");
  const RotationFile file = Read("events: [loads, stores]\nalways: [loads]\n", RotationUse::kRequest).value();
  EXPECT_EQ(Numbers().SetOf(file.events).value(), (mailbox::EventSet{0b110}));
  EXPECT_EQ(Numbers().SetOf(file.always).value(), (mailbox::EventSet{0b010}));
  EXPECT_TRUE(Numbers().SetOf({}).value().empty());
}

TEST(RotationFileTest, TellsWhoseAKeyIs) {
  EXPECT_EQ(Refused("step: 2\nseed: 1", RotationUse::kRequest),
            "r.yaml:2: key 'seed' is only for chip files and replays");
  EXPECT_EQ(Refused("dead_cycles: 1", RotationUse::kRequest),
            "r.yaml:1: key 'dead_cycles' is only for chip files and replays");
  for (const RotationUse use : {RotationUse::kRequest, RotationUse::kChip}) {
    for (const char* key : {"counters", "fixed", "relations"}) {
      EXPECT_EQ(Refused(absl::StrCat(key, ": 1"), use),
                absl::StrCat("r.yaml:1: key '", key, "' is only for replays: a chip file says it of its units"));
    }
  }
  for (const RotationUse use : {RotationUse::kRequest, RotationUse::kReplay}) {
    EXPECT_EQ(Refused("slots_min: 1ms", use), "r.yaml:1: key 'slots_min' is only for chip files");
  }
  EXPECT_EQ(Refused("slots_min: 1", RotationUse::kChip),
            "r.yaml:1: 'slots_min' must be a time from 1ns to 24h, such as 200us");
  EXPECT_EQ(Refused("events: []"), "r.yaml:1: key 'events' is only for plans that are asked for");
  EXPECT_EQ(Refused("always: []", RotationUse::kChip), "r.yaml:1: key 'always' is only for plans that are asked for");
}

TEST(RotationFileTest, RefusesValues) {
  const struct {
    const char* text;
    const char* error;
  } kWrong[] = {
      {"profile: slow", "profile is 'slow', must be fast or two-set"},
      {"slots: {stable: 10}", "'stable' must be a time from 1ns to 24h, such as 200us"},
      {"slots: {fluctuating: 0us}", "'fluctuating' must be a time from 1ns to 24h, such as 200us"},
      {"slots: {stable: 25h}", "'stable' must be a time from 1ns to 24h, such as 200us"},
      {"interval: x", "'interval' must be a time from 1ns to 24h, such as 200us"},
      {"threshold: 1.1", "'threshold' must be a number from 0 to 1, such as 0.05"},
      {"step: 0", "'step' must be a whole number from 1 to 1000"},
      {"sets_per_pass: 0", "'sets_per_pass' must be all or a whole number from 1 to 64"},
      {"sets_per_pass: 65", "'sets_per_pass' must be all or a whole number from 1 to 64"},
      {"adapt: maybe", "'adapt' must be true or false"},
      {"{adapt: true, profile: two-set}", "the turns of profile two-set are equal: 'adapt' is of profile fast"},
      {"weights: {loads: -1}", "weight of 'loads' must be a number from 0 to 1000"},
      {"dead_cycles: 4294967296", "'dead_cycles' must be a whole number from 0 to 4294967295"},
      {"counters: 0", "'counters' must be a whole number from 1 to 65536"},
      {"fixed: [a, b, a]", "event 'a' is listed twice"},
      {"relations: [{event: a}]", "a relation has one of the keys sum, is_sum_of and at_most"},
      {"relations: [{sum: [], of: resident_cycles}]", "'sum' has no event"},
      {"relations: [{sum: [a], of: b}]",
       "'of' is b, must be resident_cycles; the sum that is an event is {event: b, is_sum_of: […]}"},
      {"relations: [{sum: [a], of: resident_cycles, times: 0}]", "'times' must be a whole number from 1 to 4294967295"},
      {"relations: [{event: a, is_sum_of: [b, b]}]", "event 'b' is listed twice"},
  };
  for (const auto& wrong : kWrong) EXPECT_EQ(Refused(wrong.text), absl::StrCat("r.yaml:1: ", wrong.error));
  EXPECT_THAT(Refused("stpe: 3"), testing::HasSubstr("'stpe'"));
  EXPECT_THAT(Refused("relations: [{sum: [a], at_most: b}]"), testing::HasSubstr("at_most"));
  EXPECT_THAT(Refused("relations: [{event: a, is_sum_of: [b], times: 2}]"), testing::HasSubstr("times"));
  EXPECT_THAT(Refused("[]"), testing::HasSubstr("r.yaml:1: "));
}

TEST(RotationFileTest, FindsEventsByName) {
  const std::string unknown = "r.yaml:2: no event 'laods' (did you mean 'loads'?)";
  const RotationFile weights = Read("weights:\n  laods: 1\n").value();
  EXPECT_EQ(SettingsOf(weights, Numbers(), kClockHz).status().message(), unknown);
  const RotationFile fixed = Read("fixed:\n  [laods]\n").value();
  EXPECT_EQ(Numbers().SetOf(fixed.fixed).status().message(), unknown);
  const RotationFile whole = Read("relations:\n  - {event: laods, at_most: loads}\n").value();
  EXPECT_EQ(RelationOf(whole.relations[0], Numbers()).status().message(), unknown);
  const RotationFile member = Read("relations:\n  - {sum: [laods], of: resident_cycles}\n").value();
  EXPECT_EQ(RelationOf(member.relations[0], Numbers()).status().message(), unknown);
}

TEST(RotationFileTest, NamesAFileThatCannotBeRead) {
  const auto file = LoadRotationFile("/nowhere/r.yaml", RotationUse::kChip);
  EXPECT_THAT(file.status().message(), testing::HasSubstr("/nowhere/r.yaml"));
}

}  // namespace
}  // namespace sideband
