// SPDX-License-Identifier: Apache-2.0
#include "daemon/authz/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"

namespace sideband::daemon {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

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
  EXPECT_EQ(Expand("['@']").status().message().substr(0, 33), "p.yaml:1: unknown event group '@'");
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

constexpr char kVm[] = "6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10";

constexpr char kGood[] = R"(version: 1
operators:
  - {name: ops, identities: ["spiffe://example.org/ops", "dns:prometheus.example.org"]}
tenants:
  - name: a
    identities: ["spiffe://example.org/a"]
    vms:
      - uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10
        contexts: [render]
        events: [cycles]
        rights: [read, seal]
  - name: b
    identities: ["spiffe://example.org/b"]
    vms: [{uuid: 7f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10}]
auditors: [{name: audit, identities: ["jwt:system:serviceaccount:audit:reader"]}]
event_groups: {compute: [cycles, stalls]}
)";

TEST(PolicyTest, ReadsEverything) {
  const auto policy = Policy::Parse(kGood, "p.yaml");
  ASSERT_TRUE(policy.ok()) << policy.status();
  const VmGrant* grant = (*policy)->tenants()[0].FindVm(*Uuid::Parse(kVm));
  ASSERT_NE(grant, nullptr);
  EXPECT_TRUE(grant->contexts.Contains("render"));
  EXPECT_FALSE(grant->contexts.Contains("compute"));
  EXPECT_TRUE(grant->events.Contains("cycles"));
  EXPECT_FALSE(grant->events.Contains("bytes"));
  EXPECT_EQ(grant->rights, (RightSet{Right::kRead, Right::kSeal}));
}

TEST(PolicyTest, AGrantMaySaySinceWhenThePastIsTheTenants) {
  const auto with = [](const std::string& since) {
    return Policy::Parse(absl::StrReplaceAll(kGood, {{"7f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10",
                                                      absl::StrCat("7f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10", since)}}),
                         "p.yaml");
  };
  EXPECT_EQ((*with(""))->tenants()[1].vms[0].since, std::nullopt);
  const auto policy = with(", since: \"2026-11-22T01:00:00+01:00\"");
  ASSERT_TRUE(policy.ok()) << policy.status();
  EXPECT_EQ((*policy)->tenants()[1].vms[0].since, absl::FromCivil(absl::CivilDay(2026, 11, 22), absl::UTCTimeZone()));
  for (const char* bad : {"yesterday", "2026-11-22", "2026-11-22T01:00:00", "1764000000"}) {
    EXPECT_EQ(with(absl::StrCat(", since: ", bad)).status().message(),
              absl::StrCat("p.yaml:14: '", bad, "' is not a time such as 2026-11-29T08:00:00Z"));
  }
}

TEST(PolicyTest, AShortGrantIsToReadEverything) {
  const auto policy = Policy::Parse(kGood, "p.yaml");
  const VmGrant& grant = (*policy)->tenants()[1].vms[0];
  EXPECT_TRUE(grant.contexts.all());
  EXPECT_TRUE(grant.events.all());
  EXPECT_EQ(grant.rights, RightSet{Right::kRead});
}

TEST(PolicyTest, IdentifiesWhomItLists) {
  const auto policy = *Policy::Parse(kGood, "p.yaml");
  EXPECT_EQ(policy->Identify({{"spiffe://example.org/ops"}, {}})->role, Principal::Role::kOperator);
  EXPECT_EQ(policy->Identify({{}, {"x", "prometheus.example.org"}})->role, Principal::Role::kOperator);
  const auto b = policy->Identify({{"spiffe://example.org/b"}, {}});
  EXPECT_EQ(b->role, Principal::Role::kTenant);
  EXPECT_EQ(b->tenant, 1u);
  EXPECT_EQ(b->identity, "spiffe://example.org/b");
  EXPECT_FALSE(policy->Identify({{"spiffe://example.org/c"}, {}}).has_value());
}

TEST(PolicyTest, FindsIdentitiesOfEveryKind) {
  const auto policy = *Policy::Parse(kGood, "p.yaml");
  const auto auditor = policy->Find("jwt:system:serviceaccount:audit:reader");
  ASSERT_TRUE(auditor.has_value());
  EXPECT_EQ(auditor->role, Principal::Role::kAuditor);
  EXPECT_EQ(auditor->identity, "jwt:system:serviceaccount:audit:reader");
  EXPECT_EQ(policy->Find("spiffe://example.org/b")->tenant, 1u);
  EXPECT_EQ(policy->Find("dns:prometheus.example.org")->role, Principal::Role::kOperator);
  for (const char* nobody : {"", "jwt:", "system:serviceaccount:audit:reader", "dns:", "jwt:spiffe://example.org/b"}) {
    EXPECT_FALSE(policy->Find(nobody).has_value()) << nobody;
  }
}

// Otherwise a certificate for a DNS name could claim a token's identity.
//
TEST(PolicyTest, ACertificateIsNoToken) {
  const auto policy = *Policy::Parse("version: 1\noperators: [{name: o, identities: ['jwt:x']}]\n", "p.yaml");
  EXPECT_FALSE(policy->Identify({{}, {"x"}}).has_value());
  EXPECT_FALSE(policy->Identify({{"jwt:x"}, {}}).has_value());
  EXPECT_FALSE(policy->Identify({{}, {"jwt:x"}}).has_value());
}

TEST(PolicyTest, GroupsAreApart) {
  const auto policy = *Policy::Parse(kGood, "p.yaml");
  EXPECT_EQ(policy->Find("spiffe://example.org/ops")->group(), 0u);
  EXPECT_EQ(policy->Find("jwt:system:serviceaccount:audit:reader")->group(), 1u);
  EXPECT_EQ(policy->Find("spiffe://example.org/a")->group(), 2u);
  EXPECT_EQ(policy->Find("spiffe://example.org/b")->group(), 3u);
}

TEST(PolicyTest, EventGroupsAreExpanded) {
  const auto policy =
      Policy::Parse(absl::StrReplaceAll(kGood, {{"events: [cycles]", "events: [\"@compute\", bytes]"}}), "p.yaml");
  ASSERT_TRUE(policy.ok()) << policy.status();
  const NameSet& events = (*policy)->tenants()[0].vms[0].events;
  for (const char* event : {"cycles", "stalls", "bytes"}) EXPECT_TRUE(events.Contains(event)) << event;
  for (const char* event : {"compute", "@compute", "other"}) EXPECT_FALSE(events.Contains(event)) << event;
}

TEST(PolicyTest, KeepsWhereItsVmsAre) {
  const auto policy = *Policy::Parse(kGood, "p.yaml");
  EXPECT_EQ(policy->path(), "p.yaml");
  EXPECT_EQ(policy->tenants()[0].vms[0].line, 8u);
  EXPECT_EQ(policy->tenants()[1].vms[0].line, 14u);
  EXPECT_FALSE(policy->allows_absent_vms());
  EXPECT_TRUE((*Policy::Parse(std::string(kGood) + "allow_absent_vms: true\n", "p.yaml"))->allows_absent_vms());
}

TEST(PolicyTest, EveryMistakeHasItsLine) {
  struct Case {
    const char* from;
    const char* to;
    const char* message;
  };
  for (const Case& c : {
           Case{"version: 1", "version: 2",
                "p.yaml:1: unknown version 2, must be 1: it is that of the format, not of the policy's content"},
           Case{"version: 1", "version: one",
                "p.yaml:1: unknown version one, must be 1: it is that of the format, not of the policy's content"},
           Case{"version: 1\n", "\n", "p.yaml:2: key 'version' is missing"},
           Case{"tenants:", "tenant:", "p.yaml:5: unknown key 'tenant' (did you mean 'tenants'?)"},
           Case{"name: b", "name: a", "p.yaml:12: name 'a' is given twice"},
           Case{"org/b", "org/ops", "p.yaml:13: identity 'spiffe://example.org/ops' is given twice"},
           Case{"org/b", "org/a", "p.yaml:13: identity 'spiffe://example.org/a' is given twice"},
           Case{"spiffe://example.org/b", "example.org",
                "p.yaml:13: identity 'example.org' is neither spiffe://DOMAIN/PATH nor dns:NAME nor jwt:SUBJECT"},
           Case{"audit:reader", "a b",
                "p.yaml:15: identity 'jwt:system:serviceaccount:a b' is neither spiffe://DOMAIN/PATH nor dns:NAME nor "
                "jwt:SUBJECT"},
           Case{"spiffe://example.org/b", "jwt:spiffe://example.org/b",
                "p.yaml:13: identity 'jwt:spiffe://example.org/b' is neither spiffe://DOMAIN/PATH nor dns:NAME nor "
                "jwt:SUBJECT"},
           Case{"jwt:system:serviceaccount:audit:reader", "spiffe://example.org/a",
                "p.yaml:6: identity 'spiffe://example.org/a' is given twice"},
           Case{"name: audit", "name: ops", "p.yaml:15: name 'ops' is given twice"},
           Case{"identities: [\"jwt", "vms: [], identities: [\"jwt", "p.yaml:15: unknown key 'vms'"},
           Case{"auditors:", "auditor:", "p.yaml:15: unknown key 'auditor' (did you mean 'auditors'?)"},
           Case{"events: [cycles]", "events: [\"@compare\"]",
                "p.yaml:10: unknown event group '@compare' (did you mean '@compute'?)"},
           Case{"version: 1\n", "version: 1\nallow_absent_vms: yes\n", "p.yaml:2: expected true or false"},
           Case{"7f1c", "6f1c", "p.yaml:14: VM 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10 is given twice"},
           Case{"[read, seal]", "[read, saal]",
                "p.yaml:11: unknown right 'saal', must be read, mark, peek, seal, configure or rotate"},
           Case{"rights: [read, seal]", "rights: [read, seal]\n        configure: {gate_groups: [g]}",
                "p.yaml:12: 'configure' needs the right 'configure'"},
           Case{"rights: [read, seal]", "rights: [configure]\n        configure: {gate_group: [g]}",
                "p.yaml:12: unknown key 'gate_group' (did you mean 'gate_groups'?)"},
           Case{"rights: [read, seal]", "rights: [read, configure]\n        configure: {gate_groups: [g]}",
                "p.yaml:12: 'configure' is for whole VMs: remove 'contexts' or 'configure'"},
           Case{"[read, seal]", "[seal, peek]", "p.yaml:11: the right 'peek' needs the right 'read'"},
           Case{"contexts: [render]", "contexts: render", "p.yaml:9: expected a list"},
           Case{"    identities: [\"spiffe://example.org/b\"]\n", "", "p.yaml:12: key 'identities' is missing"},
           Case{"[\"spiffe://example.org/b\"]", "[]",
                "p.yaml:13: identities is empty: at least one identity is needed"},
           Case{"[\"jwt:system:serviceaccount:audit:reader\"]", "[]",
                "p.yaml:15: identities is empty: at least one identity is needed"},
           Case{"version: 1\n", "version: 1\nallow_absent_events: yes\n", "p.yaml:2: expected true or false"},
       }) {
    const auto policy = Policy::Parse(absl::StrReplaceAll(kGood, {{c.from, c.to}}), "p.yaml");
    EXPECT_EQ(policy.status().message(), c.message);
    EXPECT_EQ(policy.status().code(), absl::StatusCode::kInvalidArgument);
  }
}

constexpr char kPartitions[] = R"(version: 1
event_groups: {mixed: [cycles, dram_usage]}
tenants:
  - name: a
    identities: ["jwt:a"]
    partitions:
      - {device: gpu0, gpu_instance: 2}
      - {device: gpu0, gpu_instance: 3, events: ["@mixed", sm_activity]}
  - {name: b, identities: ["jwt:b"], partitions: [{device: gpu1, gpu_instance: 2}]}
)";

TEST(PolicyTest, ReadsPartitions) {
  const auto policy = Policy::Parse(kPartitions, "p.yaml");
  ASSERT_TRUE(policy.ok()) << policy.status();
  const Tenant& a = (*policy)->tenants()[0];
  ASSERT_NE(a.FindPartition("gpu0", 2), nullptr);
  EXPECT_TRUE(a.FindPartition("gpu0", 2)->metrics.all());
  EXPECT_EQ(a.FindPartition("gpu0", 2)->line, 7u);
  const NameSet& metrics = a.FindPartition("gpu0", 3)->metrics;
  EXPECT_TRUE(metrics.Contains("dram_usage"));
  EXPECT_TRUE(metrics.Contains("sm_activity"));
  EXPECT_FALSE(metrics.Contains("engine_active"));
  EXPECT_EQ(a.FindPartition("gpu1", 2), nullptr);
  EXPECT_EQ(a.FindPartition("gpu0", 4), nullptr);
}

TEST(PolicyTest, MistakesOfPartitions) {
  for (const auto& [from, to, message] : std::vector<std::array<const char*, 3>>{
           {"gpu1, gpu_instance: 2", "gpu0, gpu_instance: 2", "p.yaml:9: GPU instance 2 of gpu0 is given twice"},
           {"gpu_instance: 3", "gpu_instance: 64", "p.yaml:8: expected a whole number from 0 to 63"},
           {"device: gpu1, ", "", "p.yaml:9: key 'device' is missing"},
           {", gpu_instance: 2}]", "}]", "p.yaml:9: key 'gpu_instance' is missing"},
           {"gpu_instance: 3", "instance: 3", "p.yaml:8: unknown key 'instance' (did you mean 'gpu_instance'?)"},
           {", sm_activity]", ", sm_activty]", "p.yaml:8: unknown metric 'sm_activty' (did you mean 'sm_activity'?)"},
       }) {
    const auto policy = Policy::Parse(absl::StrReplaceAll(kPartitions, {{from, to}}), "p.yaml");
    EXPECT_EQ(policy.status().message(), message);
  }
}

constexpr char kDevices[] = R"(version: 1
tenants:
  - {name: a, identities: ["jwt:a"], devices: [{device: gpu0}, {device: gpu1, since: "2026-11-22T00:00:00Z"}]}
  - {name: b, identities: ["jwt:b"], partitions: [{device: gpu2, gpu_instance: 2}]}
)";

TEST(PolicyTest, ReadsDevices) {
  const auto policy = Policy::Parse(kDevices, "p.yaml");
  ASSERT_TRUE(policy.ok()) << policy.status();
  const Tenant& a = (*policy)->tenants()[0];
  ASSERT_NE(a.FindDevice("gpu1"), nullptr);
  EXPECT_EQ(a.FindDevice("gpu0")->since, std::nullopt);
  EXPECT_EQ(a.FindDevice("gpu1")->since, absl::FromCivil(absl::CivilDay(2026, 11, 22), absl::UTCTimeZone()));
  EXPECT_EQ(a.FindDevice("gpu1")->line, 3u);
  EXPECT_EQ(a.FindDevice("gpu2"), nullptr);
}

TEST(PolicyTest, MistakesOfDevices) {
  for (const auto& [from, to, message] : std::vector<std::array<const char*, 3>>{
           {"{device: gpu0}", "{device: gpu1}", "p.yaml:3: device gpu1 is given twice"},
           {"{device: gpu0}", "{name: gpu0}", "p.yaml:3: unknown key 'name'"},
           {"device: gpu2", "device: gpu0",
            "p.yaml:4: device gpu0 is given as a whole, too: leave out the partition or the device"},
       }) {
    const auto policy = Policy::Parse(absl::StrReplaceAll(kDevices, {{from, to}}), "p.yaml");
    EXPECT_EQ(policy.status().message(), message);
  }
}

TEST(PolicyTest, SaysWhichIdentitiesHaveChanged) {
  const auto policy = [](absl::string_view operators, absl::string_view tenant, absl::string_view name = "t") {
    return *Policy::Parse(absl::StrCat("version: 1\noperators: [{name: o, identities: [", operators,
                                       "]}]\ntenants: [{name: ", name, ", identities: [", tenant, "]}]\n"),
                          "p.yaml");
  };
  const auto before = policy("'dns:a', 'dns:b'", "'jwt:t'");
  EXPECT_THAT(IdentityChanges(*before, *before), IsEmpty());
  EXPECT_THAT(IdentityChanges(*before, *policy("'dns:a'", "'dns:b', 'jwt:new'")),
              ElementsAre("dns:b is now tenant:t, was operator", "jwt:new is now tenant:t, was not listed",
                          "jwt:t is no longer listed, was tenant:t"));
  EXPECT_THAT(IdentityChanges(*before, *policy("'dns:a', 'dns:b'", "'jwt:t'", "u")),
              ElementsAre("jwt:t is now tenant:u, was tenant:t"));
  EXPECT_THAT(IdentityChanges(*before, *policy("'dns:x', 'dns:y'", "'jwt:z'"), 2),
              ElementsAre("dns:a is no longer listed, was operator", "5 more identities have changed"));
}

TEST(PolicyTest, AnEmptyListGivesNothing) {
  const auto policy =
      *Policy::Parse(absl::StrReplaceAll(kGood, {{"[render]", "[]"}, {"[read, seal]", "[]"}}), "p.yaml");
  EXPECT_FALSE(policy->tenants()[0].vms[0].contexts.Contains("render"));
  EXPECT_EQ(policy->tenants()[0].vms[0].rights, RightSet{});
}

TEST(PolicyTest, AllErrorsAreReportedAtOnce) {
  ErrorList errors;
  EXPECT_EQ(Policy::Parse("version: 1\n"
                          "operator: []\n"
                          "auditors: [{name: a, identities: []}]\n"
                          "event_groups: {g: ['@h'], '@i': [e]}\n"
                          "tenants:\n"
                          "  - name: a\n"
                          "    identities: ['x']\n"
                          "    vms:\n"
                          "      - {uuid: 1, events: ['@k'], rights: [seel, read]}\n"
                          "      - {contexts: {}}\n",
                          "p.yaml", errors),
            nullptr);
  std::vector<std::string> messages;
  for (const absl::Status& error : errors.All()) messages.emplace_back(error.message());
  ASSERT_EQ(messages.size(), 11u);
  EXPECT_EQ(messages[0], "p.yaml:2: unknown key 'operator' (did you mean 'operators'?)");
  EXPECT_EQ(messages[1], "p.yaml:4: '@h': event groups do not nest");
  EXPECT_EQ(messages[2],
            "p.yaml:4: event group '@i': the name must not begin with @, which marks a reference to a group");
  EXPECT_EQ(messages[3], "p.yaml:3: identities is empty: at least one identity is needed");
  EXPECT_EQ(messages[4], "p.yaml:6: name 'a' is given twice");
  EXPECT_EQ(messages[5].substr(0, 24), "p.yaml:7: identity 'x' i");
  EXPECT_EQ(messages[6].substr(0, 10), "p.yaml:9: ");
  EXPECT_EQ(messages[7].substr(0, 36), "p.yaml:9: unknown event group '@k' (");
  EXPECT_EQ(messages[8], "p.yaml:9: unknown right 'seel', must be read, mark, peek, seal, configure or rotate");
  EXPECT_EQ(messages[9], "p.yaml:10: key 'uuid' is missing: 'sideband scopes --wide' shows the VMs' UUIDs");
  EXPECT_EQ(messages[10], "p.yaml:10: expected a list");
}

TEST(PolicyTest, AMissingFileIsNotFound) {
  ErrorList errors;
  EXPECT_EQ(LoadPolicy("/nonexistent.yaml", errors), nullptr);
  EXPECT_EQ(errors.First().code(), absl::StatusCode::kNotFound);
}

}  // namespace

}  // namespace sideband::daemon
