// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/counting_queries.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "daemon/view/fake_world.h"

namespace sideband::daemon {
namespace {

using absl::StatusCode;
using sideband::v1::GetCountingRequest;
using sideband::v1::GetCountingResponse;
using sideband::v1::SetCountingRequest;
using sideband::v1::SetCountingResponse;

constexpr char kCountingPolicy[] = R"(version: 1
operators: [{name: ops, identities: ["spiffe://example.org/ops"]}]
auditors: [{name: audit, identities: ["spiffe://example.org/auditor"]}]
tenants:
  - name: a
    identities: ["spiffe://example.org/tenant-a"]
    vms: [{uuid: 00000000-0000-0000-0000-0000000000a0, rights: [read, configure], configure: {gate_groups: [tlb, fp], events: [cycles]}}]
  - name: b
    identities: ["spiffe://example.org/tenant-b"]
    vms: [{uuid: 00000000-0000-0000-0000-0000000000a1, contexts: [train], rights: [read]}]
  - name: c
    identities: ["spiffe://example.org/tenant-c"]
    vms: [{uuid: 00000000-0000-0000-0000-0000000000a2, rights: [seal, configure], configure: {gate_groups: [tlb]}}]
)";

class CountingQueriesTest : public testing::Test {
 protected:
  CountingQueriesTest() {
    world_.policy.Replace(*Policy::Parse(kCountingPolicy, "policy.yaml"));
    mailbox::Catalog catalog = world_.topology->catalog();
    catalog.events[0].details = {.gate_group = 1, .selectable = true};
    catalog.events[1].details = {.gate_group = 2, .selectable = true};
    catalog.selections = {{"nothing"}, {"cycles"}, {"both"}};
    catalog.gate_groups = {{"tensor", 1}, {"tlb", 1}, {"fp", 1}};
    world_.topology = std::make_shared<const Topology>(std::move(catalog), world_.topology->hash());
    world_.Publish(0, 1);
    mailbox::CountingConfig config{.revision = 5, .groups = {{{}, {}, {}}, {{}, {}, {}}}, .hosts = {{}, {}}};
    config.selections = {{0}, {0b01}, {0b11}};
    for (const mailbox::VmInfo& vm : world_.topology->catalog().vms) config.vms[vm.id];
    for (const auto& context : world_.topology->catalog().contexts) config.contexts[{context.vm, context.id}];
    book_.Observe("gpu0", {world_.topology, 1, std::move(config)});
  }

  Caller CallerOf(const std::string& who) const { return *world_.reader.Identify(CredentialsOf(who)); }
  absl::StatusOr<GetCountingResponse> Get(const std::string& who, const std::string& device = "gpu0") const {
    GetCountingRequest request;
    request.set_device(device);
    return queries_.Get(CallerOf(who), request);
  }
  absl::StatusOr<SetCountingResponse> Set(const std::string& who, SetCountingRequest request) const {
    request.set_device("gpu0");
    return queries_.Set(CallerOf(who), request);
  }
  // A request with one change of a VM.
  static SetCountingRequest OfVm(const std::string& vm, const std::function<void(sideband::v1::VmCounting&)>& change) {
    SetCountingRequest request;
    request.add_vms()->set_vm(vm);
    change(*request.mutable_vms(0));
    return request;
  }
  uint16_t IdOf(const std::string& vm) const { return world_.topology->FindVm(vm)->id; }
  // The device's configuration with what is pending for it.
  mailbox::CountingConfig Desired() const {
    mailbox::CountingConfig config = book_.State("gpu0")->actual.config;
    const auto change = book_.Pending("gpu0");
    for (const auto& [address, word] : change ? change->writes : std::vector<mailbox::ConfigWrite>()) {
      EXPECT_TRUE(mailbox::WriteWord(address, word, config).ok());
    }
    return config;
  }

  mutable FakeWorld world_;
  CountingBook book_;
  CountingQueries queries_{world_.reader, book_};
};

TEST_F(CountingQueriesTest, AnOperatorSeesEverythingButContexts) {
  const auto response = Get("ops");
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->revision(), 5u);
  EXPECT_TRUE(response->in_sync());
  EXPECT_EQ(response->groups_size(), 3);
  EXPECT_EQ(response->groups(1).name(), "tlb");
  EXPECT_EQ(response->groups(1).events_size(), 1);
  ASSERT_EQ(response->vms_size(), 3);
  for (const auto& vm : response->vms()) EXPECT_EQ(vm.contexts_size(), 0) << vm.vm();
  EXPECT_TRUE(response->vms(2).confidential());
  EXPECT_EQ(response->vms(2).allowed().groups_size(), 3);
  EXPECT_FALSE(response->vms(2).has_pinned());
}

// A device that restarts with other events has a new view before its configuration is read.
TEST_F(CountingQueriesTest, TheConfigurationOfOtherEventsIsNotShown) {
  mailbox::Catalog catalog = world_.topology->catalog();
  catalog.events.insert(catalog.events.end(), 20'000, catalog.events[0]);
  mailbox::CountingConfig config = book_.State("gpu0")->actual.config;
  book_.Observe("gpu0", {std::make_shared<const Topology>(std::move(catalog), 99), 1, std::move(config)});
  EXPECT_TRUE(absl::IsUnavailable(Get("ops").status()));
  EXPECT_TRUE(absl::IsUnavailable(Set("ops", OfVm("vm0", [](auto&) {})).status()));
}

TEST_F(CountingQueriesTest, ATenantSeesItsVmAndTheGroupsOfItsGrant) {
  const auto response = Get("tenant-a");
  ASSERT_TRUE(response.ok()) << response.status();
  ASSERT_EQ(response->vms_size(), 1);
  EXPECT_EQ(response->vms(0).vm(), "vm0");
  std::set<std::string> groups;
  for (const auto& group : response->groups()) groups.insert(group.name());
  EXPECT_EQ(groups, (std::set<std::string>{"tlb", "fp"}));
}

TEST_F(CountingQueriesTest, WhoMayNotConfigureLearnsNothing) {
  const absl::Status absent = Get("ops", "gpu7").status();
  EXPECT_EQ(absent.code(), StatusCode::kNotFound);
  EXPECT_EQ(Get("tenant-b").status(), absent);
  EXPECT_EQ(Get("tenant-c").status(), absent) << "its VM is confidential";
  EXPECT_EQ(Get("auditor").status(), absent);
  EXPECT_EQ(Get("ops", "gpu1").status(), absent) << "a device without a snapshot";
  EXPECT_EQ(Set("tenant-b", OfVm("vm1", [](auto& vm) { vm.mutable_value(); })).status(), absent);
  EXPECT_EQ(Get("ops", "").status().code(), StatusCode::kInvalidArgument);
}

// The fields of a request, by the paths of their refusals.
std::map<std::string, std::function<void(sideband::v1::VmCounting&)>> Fields() {
  return {{"allowed", [](auto& vm) { vm.mutable_allowed()->add_groups("tlb"); }},
          {"pinned", [](auto& vm) { vm.mutable_pinned()->add_groups("tensor"); }},
          {"host_value", [](auto& vm) { vm.mutable_host_value()->add_groups("tlb"); }},
          {"ids", [](auto& vm) { vm.mutable_ids()->add_ids(7); }},
          {"guest_access", [](auto& vm) { vm.set_guest_access(true); }},
          {"useren", [](auto& vm) { vm.set_useren(true); }},
          {"store", [](auto& vm) { vm.set_store(true); }},
          {"value", [](auto& vm) { vm.mutable_value()->add_groups("tlb"); }},
          {"selection", [](auto& vm) { vm.set_selection(1); }}};
}

// The rules, restated: an operator sets everything of open VMs, and of a confidential one what it may open; a tenant
// with the right its VM's own value, and the selection that differs in the event of its grant.
bool Naive(const std::string& who, const std::string& vm, const std::string& field) {
  if (who == "ops") return vm != "secret" || field == "allowed";
  return who == "tenant-a" && vm == "vm0" && (field == "value" || field == "selection");
}

// V16
TEST_F(CountingQueriesTest, EachFieldIsSetByThoseWhoMay) {
  for (const std::string who : {"ops", "auditor", "tenant-a", "tenant-b", "tenant-c"}) {
    for (const std::string vm : {"vm0", "vm1", "secret", "vm9"}) {
      for (const auto& [field, change] : Fields()) {
        SetCountingRequest request = OfVm(vm, change);
        request.set_validate_only(true);
        const auto response = Set(who, request);
        const bool is_taken = response.ok() && response->refused().empty();
        EXPECT_EQ(is_taken, vm != "vm9" && Naive(who, vm, field)) << who << " " << vm << "." << field;
      }
    }
  }
  EXPECT_FALSE(book_.Pending("gpu0").has_value()) << "only validated";
}

TEST_F(CountingQueriesTest, AnotherTenantsVmIsRefusedAsOneThatIsNotThere) {
  const auto refusal = [&](const std::string& vm) {
    auto response = Set("tenant-a", OfVm(vm, [](auto& change) { change.mutable_value(); }));
    EXPECT_EQ(response->refused_size(), 1);
    return response->refused(0).reason();
  };
  EXPECT_EQ(refusal("vm1"), refusal("vm9"));
  const auto typo = Set("ops", OfVm("vm0", [](auto& vm) { vm.mutable_pinned()->add_groups("tlbs"); }));
  EXPECT_EQ(typo->refused(0).field(), "vms.vm0.pinned") << "as the caller has named it";
  const auto group = Set("tenant-a", OfVm("vm0", [](auto& vm) { vm.mutable_value()->add_groups("tensor"); }));
  EXPECT_EQ(group->refused(0).reason(), "no gate group 'tensor'") << "it is not granted";
}

TEST_F(CountingQueriesTest, ATenantsValueLeavesOtherGroupsAsTheyAre) {
  ASSERT_TRUE(Set("tenant-a", OfVm("vm0", [](auto& vm) { vm.mutable_value()->add_groups("fp"); })).ok());
  const mailbox::CountingConfig desired = Desired();
  EXPECT_EQ(desired.vms.at(IdOf("vm0")).guest_value.Enabled(), 0b101u) << "tensor is not granted, and stays enabled";
  EXPECT_TRUE(desired.vms.at(IdOf("vm0")).guest_load);
  EXPECT_FALSE(desired.vms.at(IdOf("vm1")).guest_load);
}

TEST_F(CountingQueriesTest, ATenantSetsItsContexts) {
  const auto set = [&](const std::string& who, const std::string& context) {
    return Set(who, OfVm("vm0", [&](auto& vm) {
                 auto& row = *vm.add_contexts();
                 row.set_context(context);
                 row.mutable_value();
               }));
  };
  EXPECT_EQ(set("tenant-a", "x")->refused(0).reason(), "no such context");
  EXPECT_EQ(set("ops", "render")->refused(0).reason(), "no such context") << "a context is its tenant's";
  EXPECT_TRUE(set("tenant-a", "render")->refused().empty());
  EXPECT_TRUE(book_.Pending("gpu0").has_value());
}

TEST_F(CountingQueriesTest, ATenantSelectsTheEventsOfItsGrant) {
  const auto set = [&](uint32_t selection) {
    return Set("tenant-a", OfVm("vm0", [&](auto& vm) { vm.set_selection(selection); }));
  };
  EXPECT_EQ(set(2)->refused(0).reason(), "no selection 2") << "it has an event that is not granted";
  EXPECT_EQ(set(3)->refused(0).reason(), "no selection 3") << "the device has three";
  EXPECT_TRUE(set(1)->refused().empty());
  EXPECT_EQ(Desired().vms.at(IdOf("vm0")).selection, 1);
  EXPECT_EQ(Desired().vms.at(IdOf("vm1")).selection, 0);
}

TEST_F(CountingQueriesTest, ASelectionKeepsWhatIsPinned) {
  mailbox::CountingConfig config = book_.State("gpu0")->actual.config;
  config.vms[IdOf("vm0")].selection = 1;
  config.vms[IdOf("vm0")].pinned = 0b010;
  book_.Observe("gpu0", {world_.topology, 1, config});
  const SetCountingRequest request = OfVm("vm0", [](auto& vm) { vm.set_selection(0); });
  EXPECT_EQ(Set("tenant-a", request)->refused(0).reason(), "no selection 0") << "cycles are of the pinned group tlb";
  EXPECT_EQ(Set("ops", request)->refused(0).reason(), "selection 0 has no events of the pinned gate group 'tlb'");
  const auto unpin = [](auto& vm) {
    vm.mutable_pinned();
    vm.set_selection(0);
  };
  EXPECT_TRUE(Set("ops", OfVm("vm0", unpin))->refused().empty());
}

// Rights follow from what others have set, also while it is pending.
TEST_F(CountingQueriesTest, APendingPinIsKeptByASelection) {
  mailbox::CountingConfig config = book_.State("gpu0")->actual.config;
  config.vms[IdOf("vm0")].selection = 1;
  book_.Observe("gpu0", {world_.topology, 1, config});
  ASSERT_TRUE(Set("ops", OfVm("vm0", [](auto& vm) { vm.mutable_pinned()->add_groups("tlb"); }))->refused().empty());
  EXPECT_EQ(Set("tenant-a", OfVm("vm0", [](auto& vm) { vm.set_selection(0); }))->refused(0).reason(), "no selection 0");
  EXPECT_EQ(Desired().vms.at(IdOf("vm0")).selection, 1);
}

TEST_F(CountingQueriesTest, APendingSelectionIsReplacedWithinTheGrant) {
  ASSERT_TRUE(Set("ops", OfVm("vm0", [](auto& vm) { vm.set_selection(2); }))->refused().empty());
  EXPECT_EQ(Set("tenant-a", OfVm("vm0", [](auto& vm) { vm.set_selection(1); }))->refused(0).reason(), "no selection 1")
      << "it lacks an event of the pending one that is not granted";
  EXPECT_EQ(Desired().vms.at(IdOf("vm0")).selection, 2);
}

TEST_F(CountingQueriesTest, AGroupThatAPendingValueClosesStaysClosed) {
  ASSERT_TRUE(Set("ops", OfVm("vm0", [](auto& vm) { vm.mutable_value()->add_groups("tlb"); }))->refused().empty());
  ASSERT_TRUE(Set("tenant-a", OfVm("vm0", [](auto& vm) { vm.mutable_value()->add_groups("fp"); }))->refused().empty());
  EXPECT_EQ(Desired().vms.at(IdOf("vm0")).guest_value.Enabled(), 0b100u) << "tensor is not granted";
}

TEST_F(CountingQueriesTest, ATenantSeesTheSelectionsThatItMayHave) {
  const auto names = [](const GetCountingResponse& response) {
    std::vector<std::string> selections;
    for (const auto& selection : response.selections()) selections.push_back(selection.name());
    return selections;
  };
  EXPECT_EQ(names(*Get("tenant-a")), (std::vector<std::string>{"nothing", "cycles"}));
  EXPECT_EQ(names(*Get("ops")), (std::vector<std::string>{"nothing", "cycles", "both"}));
  EXPECT_EQ(Get("ops")->selections(2).events_size(), 2);
  EXPECT_EQ(Get("ops")->selectable_events_size(), 2);
}

TEST_F(CountingQueriesTest, OnlyOperatorsSetGroups) {
  SetCountingRequest request;
  request.add_groups()->set_name("tlb");
  request.mutable_groups(0)->set_valid(false);
  EXPECT_EQ(Set("tenant-a", request)->refused(0).reason(), "only operators may set it");
  EXPECT_TRUE(Set("ops", request)->refused().empty());
  for (const auto& groups : Desired().groups) EXPECT_FALSE(groups[1].valid);
}

TEST_F(CountingQueriesTest, AnotherRevisionIsAborted) {
  SetCountingRequest request = OfVm("vm0", [](auto& vm) { vm.set_useren(true); });
  request.set_expected_revision(4);
  EXPECT_EQ(Set("ops", request).status().code(), StatusCode::kAborted);
  request.set_expected_revision(5);
  EXPECT_EQ(Set("ops", request)->revision(), 5u);
  EXPECT_FALSE(Get("ops")->in_sync());
}

// Changes of another VM, as a tenant that may only configure its own would learn of them.
TEST_F(CountingQueriesTest, ATenantsRevisionCountsWhatItSeesAlone) {
  ASSERT_EQ(Get("tenant-a")->revision(), 1u);
  mailbox::CountingConfig config = book_.State("gpu0")->actual.config;
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(Set("ops", OfVm("vm1", [&](auto& vm) { vm.set_useren(i % 2 == 0); }))->refused().empty());
    EXPECT_FALSE(Get("ops")->in_sync());
    EXPECT_TRUE(Get("tenant-a")->in_sync()) << "what waits is of another VM";
    ++config.revision;
    config.vms[IdOf("vm1")].useren = i % 2 == 0;
    book_.Observe("gpu0", {world_.topology, 1, config});
    EXPECT_EQ(Get("tenant-a")->revision(), 1u);
  }
  EXPECT_EQ(Get("ops")->revision(), 9u);
  config.vms[IdOf("vm0")].useren = true;
  book_.Observe("gpu0", {world_.topology, 1, config});
  EXPECT_EQ(Get("tenant-a")->revision(), 2u);
  EXPECT_EQ(Get("tenant-a")->revision(), 2u);
}

TEST_F(CountingQueriesTest, ATenantExpectsItsOwnRevision) {
  SetCountingRequest request = OfVm("vm0", [](auto& vm) { vm.mutable_value()->add_groups("fp"); });
  request.set_expected_revision(5);
  EXPECT_EQ(Set("tenant-a", request).status(), absl::AbortedError("the revision in force is 1, not 5"));
  request.set_expected_revision(1);
  EXPECT_EQ(Set("tenant-a", request)->revision(), 1u);
  EXPECT_FALSE(Get("tenant-a")->in_sync()) << "its own setting waits";
  EXPECT_EQ(Get("tenant-a")->revision(), 1u);
  const ConfigChange change = *book_.Pending("gpu0");
  book_.Committed("gpu0", change, 6u);
  EXPECT_TRUE(Get("tenant-a")->in_sync());
  EXPECT_EQ(Get("tenant-a")->revision(), 2u);
}

TEST_F(CountingQueriesTest, AnAnswerSaysWhetherSettingsAreStored) {
  const SetCountingRequest request = OfVm("vm0", [](auto& vm) { vm.set_useren(true); });
  EXPECT_FALSE(Set("ops", request)->settings_stored()) << "there is no store";
  EXPECT_FALSE(Get("ops")->settings_stored());
}

TEST_F(CountingQueriesTest, ARepeatedNameIsTakenOnce) {
  EXPECT_TRUE(Set("ops", OfVm("vm0",
                              [](auto& vm) {
                                for (int i = 0; i < 1000; ++i) vm.mutable_allowed()->add_groups("fp");
                              }))
                  ->refused()
                  .empty());
  EXPECT_EQ(Desired().vms.at(IdOf("vm0")).allowed, 0b100u);
}

TEST_F(CountingQueriesTest, WhatARequestHasInVainIsRefused) {
  const auto refusal = [&](const SetCountingRequest& request) {
    const auto response = Set("tenant-a", request);
    EXPECT_EQ(response->refused_size(), 1);
    return response->refused(0).field() + " " + response->refused(0).reason();
  };
  EXPECT_EQ(refusal(OfVm("vm0", [](auto& vm) { vm.add_contexts()->set_context("render"); })),
            "vms.vm0.contexts.render has no value");
  EXPECT_EQ(refusal(OfVm("vm0", [](auto& vm) { vm.set_confidential(true); })), "vms.vm0.confidential cannot be set");
  const auto twice = [](auto& vm) {
    for (int i = 0; i < 2; ++i) {
      vm.add_contexts()->set_context("render");
      vm.mutable_contexts(i)->mutable_value();
    }
  };
  EXPECT_EQ(refusal(OfVm("vm0", twice)), "vms.vm0.contexts.render is given twice");
  SetCountingRequest request = OfVm("vm0", [](auto& vm) { vm.set_selection(1); });
  request.add_vms()->set_vm("00000000-0000-0000-0000-0000000000a0");
  EXPECT_EQ(refusal(request).substr(0, 4), "vms.");
  SetCountingRequest groups;
  for (int i = 0; i < 2; ++i) groups.add_groups()->set_name("tlb");
  EXPECT_EQ(Set("ops", groups)->refused(0).reason(), "is given twice");
  EXPECT_FALSE(book_.Pending("gpu0").has_value());
}

TEST_F(CountingQueriesTest, NumbersBeyondTheirFieldsAreRefused) {
  EXPECT_EQ(Set("ops", OfVm("vm0", [](auto& vm) { vm.mutable_ids()->add_ids(65536); }))->refused(0).reason(),
            "an identifier above 65535");
  SetCountingRequest request;
  request.add_groups()->set_name("tlb");
  request.mutable_groups(0)->set_identifier(65536);
  EXPECT_EQ(Set("ops", request)->refused(0).reason(), "identifier above 65535");
  EXPECT_FALSE(book_.Pending("gpu0").has_value());
}

}  // namespace

}  // namespace sideband::daemon
