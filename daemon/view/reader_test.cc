// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/identity/fake_issuer.h"
#include "daemon/view/fake_world.h"
#include "daemon/view/topology_views.h"

namespace sideband::daemon {
namespace {

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

class ReaderTest : public testing::Test {
 protected:
  std::string Seen(const std::string& who) {
    std::string text;
    for (const VisibleDevice& device : world_.reader.Devices(*world_.reader.Identify(CredentialsOf(who)))) {
      const char* states[] = {"fresh", "stale", "away"};
      text += device.info->name + " " + states[static_cast<int>(device.state)] + "; ";
    }
    return text;
  }

  FakeWorld world_;
};

TEST_F(ReaderTest, StrangersAreNobody) {
  EXPECT_FALSE(world_.reader.Identify(CredentialsOf("stranger")).has_value());
  EXPECT_FALSE(world_.reader.Identify({}).has_value());
}

TEST_F(ReaderTest, OnlyOperatorsSeeADeviceThatWasNeverHeardOf) {
  EXPECT_EQ(Seen("ops"), "gpu0 away; gpu1 away; ");
  EXPECT_EQ(Seen("tenant-a"), "");
}

TEST_F(ReaderTest, AScrapeShowsADeviceOnceThatATenantHasAPartitionOf) {
  world_.policy.Replace(*Policy::Parse(R"(version: 1
tenants:
  - name: a
    identities: ["spiffe://example.org/tenant-a"]
    vms: [{uuid: 00000000-0000-0000-0000-0000000000ff}]
    partitions: [{device: gpu1, gpu_instance: 1}]
)",
                                       "policy.yaml"));
  std::vector<std::string> names;
  for (const VisibleDevice& device :
       world_.reader.DevicesToScrape(*world_.reader.Identify(CredentialsOf("tenant-a")))) {
    names.push_back(device.info->name);
  }
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"gpu0", "gpu1"}));
}

TEST_F(ReaderTest, AScrapeShowsADeviceThatAVmMayBeOn) {
  const auto scraped = [&](const std::string& who) {
    std::string text;
    for (const VisibleDevice& device : world_.reader.DevicesToScrape(*world_.reader.Identify(CredentialsOf(who)))) {
      text += device.info->name + (device.snapshot == nullptr ? " away; " : "; ");
    }
    return text;
  };
  EXPECT_EQ(scraped("tenant-a"), "gpu0 away; gpu1 away; ");
  EXPECT_EQ(scraped("ops"), "gpu0 away; gpu1 away; ") << "each once";
  EXPECT_EQ(scraped("auditor"), "") << "never sees anything of a device";
  world_.Publish(0, 1);
  EXPECT_EQ(scraped("tenant-a"), "gpu0; ") << "its VM is found";
  EXPECT_EQ(scraped("ops"), "gpu0; gpu1 away; ");
  world_.policy.Replace(FakePolicy("00000000-0000-0000-0000-0000000000ff"));
  EXPECT_EQ(scraped("tenant-a"), "gpu1 away; ") << "it is not on gpu0";
  EXPECT_EQ(Seen("tenant-a"), "") << "elsewhere it sees none";
  world_.Publish(1, 1);
  EXPECT_EQ(scraped("tenant-a"), "") << "it is nowhere";
}

TEST_F(ReaderTest, DevicesGoStaleAfterThreeIntervals) {
  world_.Publish(0, 1);
  EXPECT_EQ(Seen("tenant-a"), "gpu0 fresh; ");
  EXPECT_EQ(world_.reader.FreshDevices(), 1u);
  world_.clock.Advance(absl::Seconds(3));
  EXPECT_EQ(Seen("tenant-a"), "gpu0 fresh; ");
  world_.clock.Advance(absl::Milliseconds(1));
  EXPECT_EQ(Seen("tenant-a"), "gpu0 stale; ");
  EXPECT_EQ(world_.reader.FreshDevices(), 0u);
}

TEST_F(ReaderTest, ATenantWithoutAVmThereDoesNotSeeTheDevice) {
  world_.Publish(0, 1);
  world_.policy.Replace(FakePolicy("00000000-0000-0000-0000-0000000000ff"));
  EXPECT_EQ(Seen("tenant-a"), "");
  EXPECT_EQ(Seen("tenant-b"), "gpu0 fresh; ");
}

TEST_F(ReaderTest, TopologiesAreOfAllDevicesOrNone) {
  world_.Publish(0, 1);
  EXPECT_FALSE(world_.reader.FreshTopologies().has_value()) << "gpu1 is away";
  world_.Publish(1, 1);
  ASSERT_TRUE(world_.reader.FreshTopologies().has_value());
  EXPECT_EQ(*world_.reader.FreshTopologies(), (Topologies{world_.topology, world_.topology}));
  world_.clock.Advance(absl::Seconds(4));
  EXPECT_FALSE(world_.reader.FreshTopologies().has_value()) << "stale";
}

class ReaderTokenTest : public testing::Test {
 protected:
  ReaderTokenTest() { world_.policy.Replace(FakePolicy(), keys_); }

  std::string Token(const std::string& subject) const {
    return issuer_.Token(absl::StrCat(R"({"sub":")", subject, R"(","aud":"sideband","exp":)",
                                      absl::ToUnixSeconds(world_.clock.Now()) + 60, "}"));
  }
  // The identity of the caller, or the reason for a rejection.
  std::string Who(const Credentials& credentials) const {
    const auto caller = reader_.Authenticate(credentials);
    EXPECT_EQ(reader_.Identify(credentials).has_value(), caller.ok());
    return caller.ok() ? caller->principal.identity : caller.status().ToString();
  }

  const FakeIssuer issuer_ = FakeIssuer::Es256("k1");
  const std::shared_ptr<const KeySet> keys_ = *KeySet::Parse(JwksOf({&issuer_}), "jwks.json");
  FakeWorld world_;
  TokenVerifier tokens_{{.audience = "sideband"}, world_.clock};
  const Reader reader_{world_.store, world_.policy, world_.clock, world_.audit, &tokens_};
  const std::string ops_ = "spiffe://example.org/ops";
};

TEST_F(ReaderTokenTest, ATokenIsWhoItSays) {
  EXPECT_EQ(Who({.bearer_token = Token(ops_)}), ops_);
  EXPECT_EQ(Who({.bearer_token = Token("ops")}), "PERMISSION_DENIED: token: jwt:ops is not in the policy");
}

TEST_F(ReaderTokenTest, ABadTokenNeverFallsBackToTheCertificate) {
  Credentials credentials = CredentialsOf("ops");
  EXPECT_EQ(Who(credentials), ops_);
  credentials.bearer_token = "";
  EXPECT_EQ(Who(credentials), "UNAUTHENTICATED: token: not three parts");
  credentials.bearer_token = Token(ops_) + "A";
  EXPECT_EQ(Who(credentials).substr(0, 15), "UNAUTHENTICATED");
  credentials.bearer_token = Token("nobody");
  EXPECT_EQ(Who(credentials),
            "PERMISSION_DENIED: ambiguous: the certificate is spiffe://example.org/ops, the token "
            "jwt:nobody");
}

TEST_F(ReaderTokenTest, TwoIdentitiesAreNobody) {
  Credentials credentials = CredentialsOf("tenant-a");
  credentials.bearer_token = Token(ops_);
  EXPECT_EQ(Who(credentials),
            "PERMISSION_DENIED: ambiguous: the certificate is spiffe://example.org/tenant-a, the "
            "token spiffe://example.org/ops");
  credentials = CredentialsOf("ops");
  credentials.bearer_token = Token(ops_);
  EXPECT_EQ(Who(credentials), ops_) << "both the same";
  credentials = CredentialsOf("stranger");
  credentials.bearer_token = Token(ops_);
  EXPECT_EQ(Who(credentials), ops_) << "the policy does not know the certificate";
}

TEST_F(ReaderTokenTest, TheLocalOperatorIsTheOperator) {
  EXPECT_EQ(Who({.local_operator = 1000}), "local:uid=1000");
  EXPECT_EQ(Who({.bearer_token = "garbage", .local_operator = 0}), Who({.bearer_token = "garbage"}))
      << "what passes on others' tokens must not make operators of them";
  EXPECT_EQ(Who({}), "UNAUTHENTICATED: no credentials: neither a token nor a certificate with a name");
}

TEST_F(ReaderTokenTest, KeysAndPolicyAreReplacedTogether) {
  const Credentials credentials = {.bearer_token = Token(ops_)};
  EXPECT_EQ(Who(credentials), ops_);
  world_.policy.Replace(*Policy::Parse("version: 1\n", "p.yaml"), keys_);
  EXPECT_EQ(Who(credentials), "PERMISSION_DENIED: token: spiffe://example.org/ops is not in the policy");
  const FakeIssuer another = FakeIssuer::Es256("k2");
  world_.policy.Replace(FakePolicy(), *KeySet::Parse(JwksOf({&another}), "jwks.json"));
  EXPECT_EQ(Who(credentials), "UNAUTHENTICATED: token: its key is unknown");
  world_.policy.Replace(FakePolicy());
  EXPECT_EQ(Who(credentials), "UNAUTHENTICATED: token: there are no keys");
}

TEST_F(ReaderTokenTest, WithoutAVerifierNoTokenIsAnyones) {
  Credentials credentials = CredentialsOf("ops");
  credentials.bearer_token = Token(ops_);
  EXPECT_FALSE(world_.reader.takes_tokens());
  EXPECT_EQ(world_.reader.Authenticate(credentials).status().message(), "token: tokens are not configured");
}

}  // namespace

}  // namespace sideband::daemon
