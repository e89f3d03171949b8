// SPDX-License-Identifier: Apache-2.0
#include "daemon/authz/absent_names.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

using Texts = std::vector<std::string>;

constexpr char kNamesPolicy[] = R"(version: 1
event_groups:
  memory: [dram_reads,
           dram_writes]
tenants:
  - name: a
    identities: ["jwt:a"]
    vms:
      - {uuid: 00000000-0000-0000-0000-000000000001}
      - {uuid: 00000000-0000-0000-0000-000000000002, events: ["@memory", cycles]}
  - {name: b, identities: ["jwt:b"], vms: [{uuid: 00000000-0000-0000-0000-000000000003}]}
)";
const Texts kEvents = {"dram_reads", "dram_writes", "cycles"};

std::shared_ptr<const Policy> Parse(const std::string& more = "") {
  return *Policy::Parse(kNamesPolicy + more, "p.yaml");
}

// A device with the given VMs and events.
std::shared_ptr<const Topology> Device(const std::vector<uint8_t>& vms, const Texts& events = {}) {
  mailbox::Catalog catalog;
  for (const uint8_t number : vms) catalog.vms.emplace_back().uuid.bytes[15] = number;
  for (const std::string& event : events) catalog.events.emplace_back().name = event;
  return std::make_shared<Topology>(catalog, 1);
}

std::string Vm(int line, int number) {
  return absl::StrCat("p.yaml:", line, ": VM 00000000-0000-0000-0000-00000000000", number,
                      " is on no device (allow_absent_vms: true allows it)");
}

TEST(AbsentNamesTest, AreThoseThatNoDeviceHas) {
  const auto policy = Parse();
  EXPECT_EQ(AbsentNames(*policy, {Device({1, 9}, {"dram_reads", "cycles"}), Device({3, 2}, {"dram_writes"})}), Texts());
  EXPECT_EQ(AbsentNames(*policy, {Device({1}), Device({}, kEvents)}), Texts({Vm(10, 2), Vm(11, 3)}));
  EXPECT_EQ(AbsentNames(*policy, {}).size(), 6u);
}

TEST(AbsentNamesTest, AMetricOfPartitionsIsNoEvent) {
  const auto policy = *Policy::Parse(R"(version: 1
event_groups: {mixed: [cycles, dram_usage, dram_usag]}
tenants:
  - {name: a, identities: ["jwt:a"], partitions: [{device: gpu0, gpu_instance: 1, events: ["@mixed", sm_activity]}]}
)",
                                     "p.yaml");
  const Texts absent = AbsentNames(*policy, {Device({}, {"cycles"})});
  ASSERT_EQ(absent.size(), 1u);
  EXPECT_EQ(absent[0].find("p.yaml:2: event 'dram_usag' is counted by no device"), 0u) << absent[0];
}

TEST(AbsentNamesTest, AnEventIsToldWhereItIsNamedWithTheNearest) {
  const auto policy = Parse();
  EXPECT_EQ(AbsentNames(*policy, {Device({1, 2, 3}, {"dram_reads", "dram_write", "cycles"})}),
            Texts({"p.yaml:4: event 'dram_writes' is counted by no device (did you mean 'dram_write'?); "
                   "allow_absent_events: true allows it"}));
  EXPECT_EQ(AbsentNames(*policy, {Device({1, 2, 3}, {"dram_reads", "dram_writes"})}),
            Texts({"p.yaml:10: event 'cycles' is counted by no device; allow_absent_events: true allows it"}));
}

TEST(AbsentNamesTest, AGateGroupIsToldWithTheNearest) {
  constexpr char kGroups[] = R"(version: 1
tenants:
  - name: a
    identities: ["jwt:a"]
    vms:
      - uuid: 00000000-0000-0000-0000-000000000001
        rights: [read, configure]
        configure: {gate_groups: [tlb, memroy]}
)";
  mailbox::Catalog catalog = Device({1})->catalog();
  catalog.gate_groups = {{"tlb", 0}, {"memory", 0}};
  const Topologies topologies = {std::make_shared<Topology>(catalog, 1)};
  const auto policy = *Policy::Parse(kGroups, "p.yaml");
  const Texts absent = {
      "p.yaml:6: gate group 'memroy' is on no device (did you mean 'memory'?); allow_absent_events: true allows it"};
  EXPECT_EQ(AbsentNames(*policy, topologies), absent);
  EXPECT_EQ(NewAbsentNames(*policy, *Parse(), topologies), absent);
  EXPECT_EQ(NewAbsentNames(*policy, *policy, topologies), Texts());
  const auto lenient = *Policy::Parse(absl::StrCat(kGroups, "allow_absent_events: true\n"), "p.yaml");
  EXPECT_EQ(AbsentNames(*lenient, topologies), Texts());
}

TEST(AbsentNamesTest, AreInTheFilesOrder) {
  const Texts absent = AbsentNames(*Parse(), {Device({1, 3}, {"dram_reads", "cycles"})});
  ASSERT_EQ(absent.size(), 2u);
  EXPECT_EQ(absent[0].substr(0, 31), "p.yaml:4: event 'dram_writes' i");
  EXPECT_EQ(absent[1], Vm(10, 2));
}

TEST(AbsentNamesTest, NewOnesAreFound) {
  const auto in_force = *Policy::Parse("version: 1\n", "p.yaml");
  EXPECT_EQ(NewAbsentNames(*Parse(), *in_force, {Device({1, 2, 3}, kEvents)}), Texts());
  EXPECT_EQ(NewAbsentNames(*Parse(), *in_force, {Device({1}, kEvents)}), AbsentNames(*Parse(), {Device({1}, kEvents)}));
}

TEST(AbsentNamesTest, WhatHasGoneSinceIsNot) {
  EXPECT_EQ(NewAbsentNames(*Parse(), *Parse(), {Device({1}, {"cycles"})}), Texts());
}

TEST(AbsentNamesTest, UnlessTheyAreAllowed) {
  EXPECT_EQ(AbsentNames(*Parse("allow_absent_vms: true\n"), {Device({}, kEvents)}), Texts());
  EXPECT_EQ(AbsentNames(*Parse("allow_absent_events: true\n"), {Device({1, 2, 3})}), Texts());
  EXPECT_EQ(AbsentNames(*Parse("allow_absent_vms: true\n"), {}).size(), 3u);
  EXPECT_EQ(AbsentNames(*Parse("allow_absent_events: true\n"), {}).size(), 3u);
  EXPECT_EQ(AbsentNames(*Parse("allow_absent_vms: false\nallow_absent_events: false\n"), {}).size(), 6u);
}

TEST(AbsentNamesTest, EventsOfOtherFiles) {
  const std::vector<PlacedEvent> events = {{"cycles", "c.yaml:3"}, {"cylces", "c.yaml:4"}};
  EXPECT_EQ(AbsentEvents(events, *Parse(), {Device({}, {"cycles"})}),
            Texts({"c.yaml:4: event 'cylces' is counted by no device (did you mean 'cycles'?); allow_absent_events: "
                   "true in the policy allows it"}));
  EXPECT_EQ(AbsentEvents(events, *Parse("allow_absent_events: true\n"), {}), Texts());
}

TEST(AbsentNamesTest, VmsOfOtherFiles) {
  const std::vector<NamedVm> vms = {{*Uuid::Parse("00000000-0000-0000-0000-000000000001"), "c.yaml:3"},
                                    {*Uuid::Parse("00000000-0000-0000-0000-000000000002"), "c.yaml:4"}};
  EXPECT_EQ(AbsentVms(vms, *Parse(), {Device({1})}),
            Texts({"c.yaml:4: VM 00000000-0000-0000-0000-000000000002 is on no device (allow_absent_vms: true in the "
                   "policy allows it)"}));
  EXPECT_EQ(AbsentVms(vms, *Parse("allow_absent_vms: true\n"), {}), Texts());
}

}  // namespace
}  // namespace sideband::daemon
