// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/view_auditor.h"

#include <gtest/gtest.h>

#include "daemon/view/fake_world.h"
#include "daemon/view/topology_views.h"

namespace sideband::daemon {
namespace {

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
