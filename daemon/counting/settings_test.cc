// SPDX-License-Identifier: Apache-2.0
#include "daemon/counting/settings.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

mailbox::Catalog GroupedCatalog() {
  mailbox::Catalog catalog;
  catalog.events = {{.name = "running"}};
  catalog.gate_groups = {{"tlb", 0}, {"tensor", 0}};
  catalog.vms = {
      {.id = 1, .uuid = *Uuid::Parse("00000000-0000-0000-0000-000000000001"), .name = "vm1"},
      {.id = 2, .uuid = *Uuid::Parse("00000000-0000-0000-0000-000000000002"), .name = "secret", .confidential = true}};
  catalog.contexts = {{.vm = 1, .id = 4, .name = "train"}};
  return catalog;
}

mailbox::CountingConfig SomeConfig() {
  mailbox::CountingConfig config{.groups = {{{}, {}}, {{}, {}}}, .hosts = {{}, {}}};
  config.vms[1];
  config.vms[2];
  config.contexts[{1, 4}];
  return config;
}

mailbox::CountingConfig Applied(const CountingSettings& settings) {
  mailbox::CountingConfig config = SomeConfig();
  EXPECT_TRUE(Apply(settings, GroupedCatalog(), config).empty());
  return config;
}

TEST(CountingSettingsTest, WhatIsAbsentStaysAsItIs) {
  EXPECT_EQ(Applied({}), SomeConfig());
  CountingSettings settings;
  settings.vms["vm1"].pinned = {"tensor"};
  mailbox::CountingConfig expected = SomeConfig();
  expected.vms[1].pinned = 0b10;
  EXPECT_EQ(Applied(settings), expected);
}

// Selection 0 has the event of tlb, selection 1 that of tensor.
TEST(CountingSettingsTest, APinAndASelectionWithoutItsEventsDoNotMeet) {
  mailbox::Catalog catalog = GroupedCatalog();
  for (const uint8_t group : {0, 1}) {
    catalog.events.push_back({.name = "e"});
    catalog.events.back().details = {.gate_group = group, .selectable = true};
  }
  mailbox::CountingConfig config = SomeConfig();
  config.selections = {{0b010}, {0b100}};
  CountingSettings pin, select, both;
  pin.vms["vm1"].pinned = {"tensor"};
  select.vms["vm1"].selection = 1;
  both.vms["vm1"] = {.pinned = GroupNames{"tensor"}, .selection = 1};
  EXPECT_EQ(Apply(pin, catalog, config),
            (std::vector<Refusal>{{"vms.vm1.pinned", "selection 0 has no events of the pinned gate group 'tensor'"}}));
  EXPECT_EQ(config.vms[1], mailbox::VmControl());
  EXPECT_TRUE(Apply(both, catalog, config).empty());
  EXPECT_EQ(config.vms[1], (mailbox::VmControl{.pinned = 0b10, .selection = 1}));
  select.vms["vm1"].selection = 0;
  EXPECT_EQ(Apply(select, catalog, config).at(0).field, "vms.vm1.selection");
  EXPECT_EQ(config.vms[1].selection, 1);
}

TEST(CountingSettingsTest, AVmIsNamedByNameOrUuid) {
  CountingSettings settings;
  settings.vms["00000000-0000-0000-0000-000000000001"].allowed = {"tlb", "tensor"};
  EXPECT_EQ(Applied(settings).vms[1].allowed, 0b11u);
}

TEST(CountingSettingsTest, AVmThatBearsAnothersUuidAsItsNameIsAnother) {
  mailbox::Catalog catalog = GroupedCatalog();
  catalog.vms[0].name = "00000000-0000-0000-0000-000000000009";
  CountingSettings settings;
  settings.vms[catalog.vms[0].name].allowed = {"tlb"};
  mailbox::CountingConfig config = SomeConfig();
  EXPECT_EQ(Apply(settings, catalog, config),
            (std::vector<Refusal>{{"vms.00000000-0000-0000-0000-000000000009", "no such VM"}}));
  EXPECT_EQ(config, SomeConfig());
}

TEST(CountingSettingsTest, AGroupIsSetOnEverySlice) {
  CountingSettings settings;
  settings.groups["tensor"] = {.valid = false, .identifier = 7};
  for (const auto& groups : Applied(settings).groups) {
    EXPECT_EQ(groups[0], mailbox::GateGroup());
    EXPECT_EQ(groups[1], (mailbox::GateGroup{.identifier = 7, .valid = false}));
  }
}

TEST(CountingSettingsTest, AValueIsLoadedFromThenOn) {
  CountingSettings settings;
  settings.vms["vm1"].value = {.groups = {{"tlb"}}};
  settings.vms["vm1"].contexts["train"] = {.master = false};
  const mailbox::CountingConfig config = Applied(settings);
  EXPECT_TRUE(config.vms.at(1).guest_load);
  EXPECT_EQ(config.vms.at(1).guest_value.Enabled(), 0b01u);
  EXPECT_TRUE(config.contexts.at({1, 4}).load);
  EXPECT_EQ(config.contexts.at({1, 4}).value.Enabled(), 0u);
}

TEST(CountingSettingsTest, AnEmptyListOfIdsSwitchesMatchingOff) {
  CountingSettings settings;
  settings.vms["vm1"].ids = {7, 8};
  EXPECT_EQ(Applied(settings).vms[1].match, (mailbox::GateMatch{.enable = true, .ids = {7, 8}}));
  settings.vms["vm1"].ids = std::vector<uint16_t>();
  EXPECT_EQ(Applied(settings).vms[1].match, mailbox::GateMatch());
}

TEST(CountingSettingsTest, EachRefusalNamesItsField) {
  const struct {
    Refusal refusal;
    std::function<void(CountingSettings&)> set;
  } kCases[] = {
      {{"groups.tlbs", "no gate group 'tlbs' (did you mean 'tlb'?)"}, [](auto& s) { s.groups["tlbs"].valid = true; }},
      {{"vms.vm3", "no such VM"}, [](auto& s) { s.vms["vm3"].useren = true; }},
      {{"vms.vm1.allowed", "no gate group 'x'"},
       [](auto& s) {
         s.vms["vm1"].allowed = {"tlb", "x"};
       }},
      {{"vms.vm1.value", "no gate group 'x'"}, [](auto& s) { s.vms["vm1"].value = {.groups = {{"x"}}}; }},
      {{"vms.vm1.ids", "more than 4"},
       [](auto& s) {
         s.vms["vm1"].ids = {1, 2, 3, 4, 5};
       }},
      {{"vms.vm1.ids", "0 is not an identifier"}, [](auto& s) { s.vms["vm1"].ids = std::vector<uint16_t>{0}; }},
      {{"vms.vm1.selection", "no selection 1"}, [](auto& s) { s.vms["vm1"].selection = 1; }},
      {{"vms.vm1.contexts.x", "no such context"}, [](auto& s) { s.vms["vm1"].contexts["x"]; }},
      {{"vms.secret", "it is confidential: only the groups that it may open can be set"},
       [](auto& s) { s.vms["secret"].pinned = {"tlb"}; }},
  };
  for (const auto& test : kCases) {
    CountingSettings settings;
    test.set(settings);
    mailbox::CountingConfig config = SomeConfig();
    EXPECT_EQ(Apply(settings, GroupedCatalog(), config), std::vector<Refusal>{test.refusal});
    EXPECT_EQ(config, SomeConfig()) << test.refusal.field;
  }
}

TEST(CountingSettingsTest, OfAConfidentialVmWhatItMayOpenIsSet) {
  CountingSettings settings;
  settings.vms["secret"].allowed = {"tlb"};
  EXPECT_EQ(Applied(settings).vms[2].allowed, 0b01u);
}

TEST(CountingSettingsTest, TheUpperLayerWinsFieldByField) {
  CountingSettings lower, upper;
  lower.vms["vm1"] = {.allowed = {{"tlb"}}, .pinned = {{"tlb"}}};
  lower.groups["tlb"] = {.valid = false, .host = true};
  upper.vms["vm1"].allowed = GroupNames();
  upper.vms["vm1"].contexts["train"] = {};
  upper.groups["tlb"].valid = true;
  Merge(upper, lower);
  EXPECT_EQ(lower.vms["vm1"].allowed, GroupNames());
  EXPECT_EQ(lower.vms["vm1"].pinned, GroupNames{"tlb"});
  EXPECT_TRUE(lower.vms["vm1"].contexts.contains("train"));
  EXPECT_EQ(lower.groups["tlb"], (GroupSetting{.valid = true, .host = true}));
}

CountingSettings SettingsOfVms(size_t absent) {
  CountingSettings settings;
  settings.groups["tlb"].valid = settings.groups["gone"].valid = true;
  settings.vms["00000000-0000-0000-0000-000000000001"].contexts = {{"train", {}}, {"gone", {}}};
  for (size_t i = 0; i < absent; ++i) settings.vms[absl::StrCat("gone", i)].useren = true;
  return settings;
}

TEST(CountingSettingsTest, WithinTheLimitsAbsentVmsKeepTheirSettings) {
  CountingSettings settings = SettingsOfVms(mailbox::kVmsMax - 1);
  DropAbsentBeyondLimits(GroupedCatalog(), settings);
  EXPECT_EQ(settings, SettingsOfVms(mailbox::kVmsMax - 1));
}

TEST(CountingSettingsTest, BeyondTheLimitsAbsentVmsAndContextsAreDropped) {
  CountingSettings settings = SettingsOfVms(mailbox::kVmsMax);
  DropAbsentBeyondLimits(GroupedCatalog(), settings);
  CountingSettings expected;
  expected.groups["tlb"].valid = true;
  expected.vms["00000000-0000-0000-0000-000000000001"].contexts["train"] = {};
  EXPECT_EQ(settings, expected);
}

TEST(CountingSettingsTest, ContextsAreLimitedToo) {
  CountingSettings settings;
  auto& contexts = settings.vms["00000000-0000-0000-0000-000000000001"].contexts;
  for (size_t i = 0; i <= mailbox::kContextsMax; ++i) contexts[absl::StrCat("job", i)] = {};
  DropAbsentBeyondLimits(GroupedCatalog(), settings);
  EXPECT_TRUE(contexts.empty());
}

}  // namespace

}  // namespace sideband::daemon
