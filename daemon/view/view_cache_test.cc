// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/view_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

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

}  // namespace
}  // namespace sideband::daemon
