// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "daemon/view/fake_world.h"
#include "daemon/view/replay.h"
#include "proto/audit/chain.h"

namespace sideband::daemon {
namespace {

constexpr char kViewPolicy[] = R"(version: 1
operators: [{name: ops, identities: ["spiffe://example.org/ops"]}]
auditors: [{name: audit, identities: ["spiffe://example.org/audit"]}]
tenants:
  - name: a
    identities: ["spiffe://example.org/a"]
    vms:
      - {uuid: 00000000-0000-0000-0000-000000000001, events: [cycles, link_bytes]}
      - {uuid: 00000000-0000-0000-0000-000000000003, rights: [seal]}
  - {name: b, identities: ["spiffe://example.org/b"]}
)";

mailbox::VmInfo Vm(uint16_t id, bool confidential = false) {
  mailbox::VmInfo vm{.id = id, .name = "vm", .confidential = confidential};
  vm.uuid.bytes[15] = static_cast<uint8_t>(id);
  return vm;
}

// Events: cycles, stalls, and link_bytes for the device as a whole. VM 3 is confidential.
std::shared_ptr<const Topology> MakeTopology() {
  mailbox::Catalog catalog;
  catalog.events = {{"cycles", "cycles"}, {"stalls", "cycles"}, {"link_bytes", "bytes", mailbox::EventScope::kDevice}};
  catalog.vms = {Vm(1), Vm(2), Vm(3, true)};
  catalog.contexts = {{1, 7, "c"}, {2, 7, "c"}, {3, 7, "c"}};
  return std::make_shared<Topology>(catalog, 1);
}

class ViewTest : public testing::Test {
 protected:
  View Of(const std::string& identity) const {
    return View(*policy_, *policy_->Identify({{"spiffe://example.org/" + identity}, {}}), topology_);
  }

  const std::shared_ptr<const Policy> policy_ = *Policy::Parse(kViewPolicy, "p.yaml");
  const std::shared_ptr<const Topology> topology_ = MakeTopology();
};

TEST_F(ViewTest, OperatorSeesWholes) {
  const View view = Of("ops");
  EXPECT_TRUE(view.sees_device());
  EXPECT_TRUE(view.sees_device_row());
  EXPECT_EQ(*view.Events(mailbox::kHypervisorVm, mailbox::kNoContext), (EventSet{true, true, true}));
  EXPECT_EQ(*view.Events(1, mailbox::kNoContext), (EventSet{true, true, false})) << "device events are the device's";
  EXPECT_EQ(view.Events(1, 7), nullptr) << "contexts are the tenant's";
  EXPECT_TRUE(view.SeesVm(3));
  EXPECT_EQ(view.Events(3, mailbox::kNoContext), nullptr) << "confidential";
  EXPECT_FALSE(view.SeesSealed(3));
}

TEST_F(ViewTest, TheHypervisorsRowsAreForWhoSeesTheDevices) {
  mailbox::Catalog catalog = topology_->catalog();
  catalog.slices = {{0, "slice0"}, {4, "slice4"}};
  catalog.host_blocks = {{.slice = 4, .generation = 1}};
  const auto topology = std::make_shared<Topology>(catalog, 2);
  for (const char* who : {"ops", "a", "b", "audit"}) {
    const View view(*policy_, *policy_->Identify({{std::string("spiffe://example.org/") + who}, {}}), topology);
    const EventSet* const events = view.Events(mailbox::kHypervisorVm, 4);
    ASSERT_EQ(events != nullptr, view.sees_device_row()) << who;
    if (events != nullptr) {
      EXPECT_EQ(*events, (EventSet{true, true, false})) << "device events are the device's";
    }
    EXPECT_EQ(view.Events(mailbox::kHypervisorVm, 0), nullptr) << "slice 0 has no host block";
  }
}

TEST_F(ViewTest, TenantSeesItsOwn) {
  const View view = Of("a");
  EXPECT_TRUE(view.sees_device());
  EXPECT_FALSE(view.sees_device_row());
  EXPECT_EQ(*view.Events(1, mailbox::kNoContext), (EventSet{true, false, false}));
  EXPECT_EQ(*view.Events(1, 7), (EventSet{true, false, false}));
  EXPECT_EQ(view.AllEvents(), (EventSet{true, false, false}));
  EXPECT_FALSE(view.SeesVm(2));
  EXPECT_EQ(view.Events(2, mailbox::kNoContext), nullptr);
  EXPECT_EQ(view.Events(2, 7), nullptr);
  EXPECT_TRUE(view.SeesVm(3));
  EXPECT_TRUE(view.SeesSealed(3));
  EXPECT_EQ(view.Events(3, 7), nullptr);
}

TEST_F(ViewTest, ATenantWithoutVmsSeesNoDevice) {
  const View view = Of("b");
  EXPECT_FALSE(view.sees_device());
  EXPECT_EQ(view.AllEvents(), (EventSet{false, false, false}));
}

TEST_F(ViewTest, AuditorsSeeNoDevice) {
  const View view = Of("audit");
  EXPECT_FALSE(view.sees_device());
  EXPECT_FALSE(view.sees_device_row());
  EXPECT_EQ(view.AllEvents(), (EventSet{false, false, false}));
  for (const uint16_t vm : {1, 2, 3}) EXPECT_FALSE(view.SeesVm(vm) || view.SeesSealed(vm));
}

TEST_F(ViewTest, UnknownBlocksAreNobodys) {
  EXPECT_EQ(Of("ops").Events(9, mailbox::kNoContext), nullptr);
  EXPECT_EQ(Of("a").Events(1, 8), nullptr);
}

constexpr Decision kAllow{true, "granted"}, kDeny{false, "not granted"};

const Uuid kVm1 = *Uuid::Parse("00000000-0000-0000-0000-000000000001");
const Uuid kVm2 = *Uuid::Parse("00000000-0000-0000-0000-000000000002");

using Texts = std::vector<std::string>;

TEST(DecisionLogTest, SaysWhatIsSeenOfADevice) {
  DecisionLog log;
  log.Add(Resource::Device(), Right::kRead, kAllow);
  log.Add(Resource::Device().Event("cycles"), Right::kRead, kAllow);
  log.Add(Resource::Device().Event("stalls"), Right::kRead, kAllow);
  log.Add(Resource::VmIdentity(kVm1, false), Right::kRead, kAllow);
  log.Add(Resource::Vm(kVm1, false), Right::kSeal, kDeny);
  log.Add(Resource::Vm(kVm1, false), Right::kRead, kAllow);
  log.Add(Resource::VmIdentity(kVm2, false), Right::kRead, kAllow);
  EXPECT_EQ(log.Texts(),
            Texts({"device: allow (granted)", "device events: allow (granted): all",
                   "vms: allow (granted): 00000000-0000-0000-0000-000000000001, 00000000-0000-0000-0000-000000000002",
                   "vm 00000000-0000-0000-0000-000000000001 sealed: deny (not granted)",
                   "vm 00000000-0000-0000-0000-000000000001: allow (granted)"}));
}

TEST(DecisionLogTest, NamesOfContextsOnlyWhatIsAllowedAmongOthers) {
  DecisionLog log;
  for (const char* name : {"train", "render", "train"}) {
    log.Add(Resource::Context(kVm1, false, name), Right::kRead, kAllow);
  }
  log.Add(Resource::Context(kVm2, false, "x"), Right::kRead, kDeny);
  const Texts all = {"vm 00000000-0000-0000-0000-000000000001 contexts: allow (granted): all",
                     "vm 00000000-0000-0000-0000-000000000002 contexts: deny (not granted): all"};
  EXPECT_EQ(log.Texts(), all);
  // Further decisions with the same outcomes change nothing.
  log.Add(Resource::Context(kVm2, false, "y"), Right::kRead, kDeny);
  log.Add(Resource::Context(kVm1, false, "z"), Right::kRead, kAllow);
  EXPECT_EQ(log.Texts(), all);
  log.Add(Resource::Context(kVm1, false, "made up"), Right::kRead, kDeny);
  EXPECT_EQ(log.Texts(),
            Texts({"vm 00000000-0000-0000-0000-000000000001 contexts: allow (granted): render, train, z",
                   "vm 00000000-0000-0000-0000-000000000001 contexts: deny (not granted): others", all[1]}));
}

TEST(DecisionLogTest, EventsOfContextsAreNotTheVms) {
  DecisionLog log;
  const Resource context = Resource::Context(kVm1, false, "train");
  log.Add(context.Event("cycles"), Right::kRead, kAllow);
  log.Add(context.Event("stalls"), Right::kRead, kDeny);
  log.Add(Resource::Vm(kVm1, false).Event("cycles"), Right::kRead, kDeny);
  EXPECT_EQ(log.Texts(), Texts({"vm 00000000-0000-0000-0000-000000000001 context events: allow (granted): cycles",
                                "vm 00000000-0000-0000-0000-000000000001 context events: deny (not granted): others",
                                "vm 00000000-0000-0000-0000-000000000001 events: deny (not granted): all"}));
}

TEST(DecisionLogTest, NothingIsCutOff) {
  DecisionLog log;
  log.Add(Resource::Context(kVm1, false, "denied"), Right::kRead, kDeny);
  for (int i = 1000; i < 2000; ++i) {
    log.Add(Resource::Context(kVm1, false, absl::StrCat("context", i)), Right::kRead, kAllow);
  }
  std::string together;
  for (const std::string& text : log.Texts()) {
    EXPECT_LE(text.size(), kAuditTextBytesMax);
    EXPECT_TRUE(absl::StartsWith(text, "vm 00000000-0000-0000-0000-000000000001 contexts: "));
    together += text;
  }
  for (int i = 1000; i < 2000; ++i) EXPECT_TRUE(absl::StrContains(together, absl::StrCat(" context", i)));
}

constexpr char kTwoTenantsPolicy[] = R"(version: 1
tenants:
  - name: a
    identities: ["spiffe://example.org/a1", "spiffe://example.org/a2"]
    vms: [{uuid: 00000000-0000-0000-0000-000000000001}]
  - {name: b, identities: ["spiffe://example.org/b"]}
)";

class CountingListener final : public ViewListener {
 public:
  bool OnView(size_t, const VersionedPolicy&, const Principal&, const DecisionLog&) override {
    ++views;
    return has_room;
  }
  std::atomic<bool> has_room = true;
  std::atomic<int> views = 0;
};

class ViewCacheTest : public testing::Test {
 protected:
  std::shared_ptr<const View> Get(const std::string& identity, const std::shared_ptr<const Topology>& topology) {
    const VersionedPolicy policy = holder_.Current();
    return cache_.Get(0, policy, *policy.policy->Identify({{"spiffe://example.org/" + identity}, {}}), topology);
  }

  const std::shared_ptr<const Topology> topology_ = std::make_shared<Topology>(mailbox::Catalog{}, 1);
  PolicyHolder holder_{*Policy::Parse(kTwoTenantsPolicy, "p.yaml")};
  CountingListener listener_;
  ViewCache cache_{listener_};
};

TEST_F(ViewCacheTest, IdentitiesOfATenantShareAView) {
  EXPECT_EQ(Get("a1", topology_), Get("a2", topology_));
  EXPECT_NE(Get("a1", topology_), Get("b", topology_));
  EXPECT_EQ(listener_.views, 2) << "told once each";
}

TEST_F(ViewCacheTest, ANewTopologyIsANewView) {
  const auto before = Get("a1", topology_);
  const auto changed = std::make_shared<Topology>(mailbox::Catalog{}, 2);
  const auto after = Get("a1", changed);
  EXPECT_NE(before, after);
  EXPECT_EQ(after->topology(), changed);
  EXPECT_EQ(Get("a1", changed), after);
}

TEST_F(ViewCacheTest, ANewPolicyIsANewView) {
  const auto before = Get("a1", topology_);
  const VersionedPolicy old = holder_.Current();
  holder_.Replace(*Policy::Parse(kTwoTenantsPolicy, "p.yaml"));
  EXPECT_EQ(holder_.Current().version, 2u);
  const auto after = Get("a1", topology_);
  EXPECT_NE(before, after);
  // A late reader of the old policy does not restore its view.
  //
  cache_.Get(0, old, *old.policy->Identify({{"spiffe://example.org/a1"}, {}}), topology_);
  EXPECT_EQ(Get("a1", topology_), after);
}

TEST_F(ViewCacheTest, WhatCouldNotBeToldIsMadeAgain) {
  listener_.has_room = false;
  const auto first = Get("a1", topology_);
  EXPECT_NE(Get("a1", topology_), first);
  listener_.has_room = true;
  const auto told = Get("a1", topology_);
  EXPECT_EQ(Get("a1", topology_), told);
  EXPECT_EQ(listener_.views, 3);
}

TEST_F(ViewCacheTest, ThreadsAgree) {
  std::shared_ptr<const View> views[4];
  {
    std::vector<std::jthread> threads;
    for (auto& view : views) threads.emplace_back([&] { view = Get("a1", topology_); });
  }
  for (const auto& view : views) EXPECT_EQ(view, views[0]);
  EXPECT_EQ(listener_.views, 1);
}

class ViewAuditorTest : public testing::Test {
 protected:
  // The audited entries after `who` has listed the devices.
  std::vector<AuditEntry> Look(const std::string& who) {
    world_.audit.Clear();
    world_.reader.Devices(*world_.reader.Identify(CredentialsOf(who)));
    return world_.audit.Entries(AuditKind::kView);
  }

  FakeWorld world_;
};

TEST_F(ViewAuditorTest, TellsEveryDecisionOnce) {
  world_.Publish(0, 1);
  const std::vector<AuditEntry> told = Look("tenant-b");
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].principal, "spiffe://example.org/tenant-b");
  EXPECT_EQ(told[0].role, "tenant:b");
  EXPECT_EQ(told[0].resource, "device gpu0");
  EXPECT_EQ(told[0].policy_version, 1u);
  EXPECT_EQ(told[0].detail,
            std::vector<std::string>(
                {"device: deny (operators only)",
                 "vms: deny (not the tenant's VM): 00000000-0000-0000-0000-0000000000a0, "
                 "00000000-0000-0000-0000-0000000000a2",
                 "vms: allow (the tenant's VM): 00000000-0000-0000-0000-0000000000a1",
                 "vm 00000000-0000-0000-0000-0000000000a1 sealed: deny (right not granted)",
                 "vm 00000000-0000-0000-0000-0000000000a1: deny (VM totals would show contexts that are not granted)",
                 "vm 00000000-0000-0000-0000-0000000000a0 contexts: deny (not the tenant's VM): all",
                 "vm 00000000-0000-0000-0000-0000000000a1 contexts: allow (granted): all",
                 "vm 00000000-0000-0000-0000-0000000000a1 context events: allow (granted): cycles",
                 "vm 00000000-0000-0000-0000-0000000000a1 context events: deny (event not granted): others",
                 "vm 00000000-0000-0000-0000-0000000000a2 contexts: deny (not the tenant's VM): all"}));
  EXPECT_TRUE(Look("tenant-b").empty()) << "the view is kept";
  world_.Publish(0, 2);
  EXPECT_TRUE(Look("tenant-b").empty());
}

TEST_F(ViewAuditorTest, ATopologyWithTheSameOutcomesIsNoNews) {
  world_.Publish(0, 1);
  EXPECT_EQ(Look("tenant-a").size(), 1u);
  mailbox::Catalog catalog = world_.topology->catalog();
  catalog.contexts.push_back({1, 12, "another", 0, 1});
  world_.topology = std::make_shared<Topology>(catalog, 6);
  world_.Publish(0, 2);
  EXPECT_TRUE(Look("tenant-a").empty()) << "one more of what it may all see";
  catalog.vms[1].uuid.bytes[0] = 1;
  world_.topology = std::make_shared<Topology>(catalog, 7);
  world_.Publish(0, 3);
  EXPECT_EQ(Look("tenant-a").size(), 1u) << "another VM";
}

TEST_F(ViewAuditorTest, ANewPolicyIsNews) {
  world_.Publish(0, 1);
  EXPECT_EQ(Look("ops").size(), 1u);
  world_.policy.Replace(FakePolicy());
  const std::vector<AuditEntry> told = Look("ops");
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].policy_version, 2u);
  EXPECT_EQ(told[0].role, "operator");
}

TEST_F(ViewAuditorTest, WhatTheLogHadNoRoomForIsToldAgain) {
  world_.Publish(0, 1);
  world_.audit.SetRoom(0);
  EXPECT_TRUE(Look("ops").empty());
  EXPECT_TRUE(Look("ops").empty());
  world_.audit.SetRoom(100);
  EXPECT_EQ(Look("ops").size(), 1u);
  EXPECT_TRUE(Look("ops").empty()) << "it has been told";
}

TEST_F(ViewAuditorTest, AllOfSeveralEntriesMustFindRoom) {
  mailbox::Catalog catalog = world_.topology->catalog();
  for (uint16_t i = 0; i < 100; ++i) {
    mailbox::VmInfo vm = catalog.vms[0];
    vm.id = static_cast<uint16_t>(100 + i);
    vm.uuid.bytes[1] = static_cast<uint8_t>(i + 1);
    catalog.vms.push_back(vm);
  }
  world_.topology = std::make_shared<Topology>(catalog, 6);
  world_.Publish(0, 1);
  world_.audit.SetRoom(2);
  EXPECT_EQ(Look("ops").size(), 2u);
  world_.audit.SetRoom(100);
  const std::vector<AuditEntry> told = Look("ops");
  ASSERT_GT(told.size(), 2u);
  EXPECT_EQ(told[0].reason, "first request of this role");
}

TEST_F(ViewAuditorTest, ThePastIsToldWhereItDiffers) {
  world_.Publish(0, 1);
  EXPECT_EQ(Look("tenant-a").size(), 1u);
  const Caller caller = *world_.reader.Identify(CredentialsOf("tenant-a"));
  const DeviceInfo& device = *world_.store.Info(0);
  // The audited entries after a view of `topology` in the past.
  const auto look_back = [&](const std::shared_ptr<const Topology>& topology) {
    world_.audit.Clear();
    TopologyViews(world_.reader, caller).Of(device, topology, world_.clock.Steady());
    return world_.audit.Entries(AuditKind::kView);
  };
  EXPECT_TRUE(look_back(world_.topology).empty()) << "as the present is";
  mailbox::Catalog catalog = world_.topology->catalog();
  catalog.vms[1].uuid.bytes[0] = 1;
  const auto past = std::make_shared<Topology>(catalog, 4);
  world_.audit.SetRoom(0);
  EXPECT_TRUE(look_back(past).empty());
  world_.audit.SetRoom(100);
  const std::vector<AuditEntry> told = look_back(past);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].principal, "spiffe://example.org/tenant-a");
  EXPECT_EQ(told[0].resource, "device gpu0");
  EXPECT_EQ(told[0].reason, "first request of this role for this past");
  EXPECT_TRUE(look_back(past).empty()) << "once";
  world_.Publish(0, 2);
  EXPECT_TRUE(Look("tenant-a").empty()) << "the present is as it was";
  world_.policy.Replace(FakePolicy());
  const Caller under_another = *world_.reader.Identify(CredentialsOf("tenant-a"));
  world_.audit.Clear();
  TopologyViews(world_.reader, under_another).Of(device, past, world_.clock.Steady());
  EXPECT_EQ(world_.audit.Entries(AuditKind::kView).size(), 1u);
}

TEST_F(ViewAuditorTest, ManyOutcomesTakeSeveralEntries) {
  mailbox::Catalog catalog = world_.topology->catalog();
  for (uint16_t i = 0; i < 100; ++i) {
    mailbox::VmInfo vm = catalog.vms[0];
    vm.id = static_cast<uint16_t>(100 + i);
    vm.uuid.bytes[1] = static_cast<uint8_t>(i + 1);
    catalog.vms.push_back(vm);
  }
  world_.topology = std::make_shared<Topology>(catalog, 6);
  world_.Publish(0, 1);
  const std::vector<AuditEntry> told = Look("ops");
  ASSERT_GT(told.size(), 2u);
  for (const AuditEntry& entry : told) EXPECT_LE(entry.detail.size(), kAuditDetailMax);
  EXPECT_EQ(told[1].reason, "continued");
}

}  // namespace

}  // namespace sideband::daemon
