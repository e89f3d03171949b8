// SPDX-License-Identifier: Apache-2.0
#include "daemon/authz/event_groups.h"

#include <gtest/gtest.h>

namespace sideband::daemon {
namespace {

constexpr char kGroups[] = "event_groups:\n  compute: [sm, warps]\n  memory: [dram, warps]\n  nothing: []\n";

absl::StatusOr<EventGroups> Read(const std::string& text) {
  ErrorList errors;
  auto groups =
      EventGroups::Read(*YamlNode::Parse("version: 1\n" + text, "p.yaml")->Map({"version", "event_groups"}), errors);
  if (!errors.empty()) return errors.First();
  return groups;
}

absl::StatusOr<std::set<std::string>> Expand(const std::string& list) {
  ErrorList errors;
  auto events = Read(kGroups)->Expand(*YamlNode::Parse(list, "p.yaml"), errors);
  if (!errors.empty()) return errors.First();
  return events;
}

TEST(EventGroupsTest, ExpandToTheirEvents) {
  using Events = std::set<std::string>;
  EXPECT_EQ(*Expand("['@compute', link]"), (Events{"sm", "warps", "link"}));
  EXPECT_EQ(*Expand("['@compute', '@memory', dram]"), (Events{"sm", "warps", "dram"}));
  EXPECT_EQ(*Expand("['@nothing']"), Events{});
  EXPECT_EQ(*Expand("[compute]"), Events{"compute"}) << "an event's name";
}

TEST(EventGroupsTest, KeepsWhereEventsAreNamed) {
  EventGroups groups = *Read("event_groups:\n  compute: [sm,\n    warps]\n");
  ErrorList errors;
  groups.Expand(*YamlNode::Parse("['@compute',\n\n\n sm]", "p.yaml"), errors);
  ASSERT_TRUE(errors.empty());
  std::vector<std::pair<std::string, size_t>> named;
  for (const NamedEvent& event : groups.named()) named.emplace_back(event.name, event.line);
  EXPECT_EQ(named, (std::vector<std::pair<std::string, size_t>>{{"sm", 3}, {"warps", 4}, {"sm", 4}}));
}

TEST(EventGroupsTest, UnknownOnesAreRefused) {
  EXPECT_EQ(Expand("[sm,\n '@compote']").status().message(),
            "p.yaml:2: unknown event group '@compote' (did you mean '@compute'?)");
  EXPECT_EQ(Expand("['@']").status().message().substr(0, 34), "p.yaml:1: unknown event group '@'");
  ErrorList errors;
  Read("")->Expand(*YamlNode::Parse("['@x']", "p.yaml"), errors);
  EXPECT_EQ(errors.First().message(), "p.yaml:1: unknown event group '@x'");
}

TEST(EventGroupsTest, TheirListsAreChecked) {
  EXPECT_EQ(Read("event_groups: {a: [x, '@b'], b: [y]}\n").status().message(),
            "p.yaml:2: '@b': event groups do not nest");
  EXPECT_EQ(Read("event_groups: {'@a': [x]}\n").status().message(),
            "p.yaml:2: event group '@a': the name must not begin with @, which marks a reference to a group");
  EXPECT_EQ(Read("event_groups:\n  a: x\n").status().message(), "p.yaml:3: expected a list");
  EXPECT_EQ(Read("event_groups:\n  a: [x]\n  a: [y]\n").status().message(), "p.yaml:4: key 'a' is given twice");
  EXPECT_EQ(Read("event_groups: []\n").status().message(), "p.yaml:2: expected a mapping (key: value)");
}

}  // namespace
}  // namespace sideband::daemon
