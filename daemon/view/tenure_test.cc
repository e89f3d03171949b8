// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/tenure.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/view/fake_world.h"
#include "daemon/view/mark_queries.h"

namespace sideband::daemon {
namespace {

constexpr char kNobody[] = "";
const std::vector<std::string> kVms = {kVm0Uuid, kVm1Uuid};
const std::vector<std::string> kTenants = {"a", "b", "c"};

class NoSink final : public BookmarkSink {
 public:
  absl::Status Ask(size_t, const BookmarkOrder&, Done) override { return absl::UnavailableError("not asked"); }
};

// A grant of a policy in time: whose a VM is, and since which second by the policy.
struct Grant {
  std::string tenant = kNobody;
  std::optional<int> since;
};

// A host on which VMs change their tenants. What happens in a second is an event; nothing else happens in it.
class TenureTest : public testing::Test {
 protected:
  TenureTest() { SetPolicy({{"a", {}}, {"b", {}}}); }

  absl::Time TimeOf(int second) const { return start_ + absl::Seconds(second); }

  // The rules, restated: a reload gives a VM to a tenant, whose it has been since, unless it was that tenant's before.
  void SetPolicy(const std::vector<Grant>& grants) {
    ++now_;
    world_.clock.Advance(absl::Seconds(1));
    std::string text = "version: 1\noperators: [{name: ops, identities: ['spiffe://example.org/ops']}]\ntenants:\n";
    for (const std::string& tenant : kTenants) {
      absl::StrAppend(&text, "  - name: ", tenant, "\n    identities: ['spiffe://example.org/tenant-", tenant,
                      "']\n    vms:\n");
      // So that each has a VM, if an absent one.
      absl::StrAppend(&text, "      - {uuid: 00000000-0000-0000-0000-0000000000f", tenant, "}\n");
      for (size_t vm = 0; vm < kVms.size(); ++vm) {
        if (grants[vm].tenant == tenant) absl::StrAppend(&text, "      - {uuid: ", kVms[vm], Since(grants[vm]), "}\n");
      }
    }
    for (size_t vm = 0; vm < kVms.size(); ++vm) {
      if (grants[vm].tenant != grants_[vm].tenant) begun_[vm] = now_;
    }
    grants_ = grants;
    world_.policy.Replace(*Policy::Parse(text, "policy.yaml"));
  }
  std::string Since(const Grant& grant) const {
    if (!grant.since) return "";
    return absl::StrCat(", since: '", absl::FormatTime(absl::RFC3339_full, TimeOf(*grant.since), absl::UTCTimeZone()),
                        "'");
  }

  void Publish() {
    ++now_;
    world_.clock.Advance(absl::Seconds(1));
    world_.Publish(0, ++published_);
    publications_.push_back(now_);
  }
  // The VM's tenant of the time, or an operator, marks it.
  void MarkVm(size_t vm) {
    ++now_;
    world_.clock.Advance(absl::Seconds(1));
    const mailbox::VmInfo& info = world_.topology->catalog().vms[vm];
    Mark mark{.scope = {.boot_id = 77, .vm = info.id}, .vm = info.uuid, .topology = world_.topology};
    mark.label = absl::StrCat(now_);
    const auto bookmark = book_.Begin(0, mark, world_.clock.Steady());
    ASSERT_TRUE(bookmark.ok()) << bookmark.status();
    book_.Requested(0, *bookmark, 1);
    // Lost at once, so that any number of them may follow.
    book_.Read(0, {.boot_id = 78}, {});
    marked_[vm].push_back(now_);
  }

  // Whether what happened in that second is now the tenant's.
  bool IsOwn(const std::string& tenant, size_t vm, int second) const {
    if (grants_[vm].tenant != tenant) return false;
    return grants_[vm].since ? second >= *grants_[vm].since : second > begun_[vm];
  }
  Caller CallerOf(const std::string& tenant) { return *world_.reader.Identify(CredentialsOf("tenant-" + tenant)); }

  // The seconds of the VM's points in the history, in each of its rows.
  void CheckHistory(const std::string& tenant) {
    const auto response = past_.reader.Get(CallerOf(tenant), {});
    ASSERT_TRUE(response.ok()) << response.status();
    std::vector<std::vector<int>> own(kVms.size());
    std::set<int> points;
    for (size_t vm = 0; vm < kVms.size(); ++vm) {
      for (const int second : publications_) {
        if (IsOwn(tenant, vm, second)) own[vm].push_back(second);
      }
      points.insert(own[vm].begin(), own[vm].end());
    }
    ASSERT_EQ(response->devices_size(), points.empty() ? 0 : 1);
    if (points.empty()) return;
    const auto& device = response->devices(0);
    EXPECT_EQ(device.oldest().seconds(), absl::ToUnixSeconds(TimeOf(*points.begin())));
    ASSERT_EQ(static_cast<size_t>(device.points_size()), points.size());
    for (const auto& series : device.series()) {
      const size_t vm = series.scope().vm_uuid() == kVms[0] ? 0 : 1;
      std::vector<int> seconds;
      for (int i = 0; i < series.columns(0).counts_size(); ++i) {
        const auto& point = device.points(static_cast<int>(series.first_point()) + i);
        seconds.push_back(static_cast<int>(point.host_time().seconds() - absl::ToUnixSeconds(start_)));
      }
      EXPECT_EQ(seconds, own[vm]) << tenant << " " << series.scope().vm();
    }
  }

  void CheckReplay(const std::string& tenant) {
    const Caller caller = CallerOf(tenant);
    const VisibleDevice device{.info = world_.store.Info(0)};
    Replay replay = past_.reader.ReplayAfter(0, 0);
    for (size_t i = 0; i < publications_.size(); ++i) {
      ASSERT_EQ(replay.Next(-absl::InfiniteDuration(), published_ + 1), Replay::Outcome::kFound);
      std::set<std::string> seen, own;
      const sideband::v1::Snapshot message = replay.Message(device, caller, RowFilter());
      for (const auto& row : message.scopes()) seen.insert(row.scope().vm_uuid());
      for (size_t vm = 0; vm < kVms.size(); ++vm) {
        if (IsOwn(tenant, vm, publications_[i])) own.insert(kVms[vm]);
      }
      EXPECT_EQ(seen, own) << tenant << " at " << publications_[i];
      EXPECT_EQ(replay.IsVisible(device, caller), !own.empty());
    }
  }

  void CheckMarks(const std::string& tenant) {
    const auto response = marks_.ListMarks(CallerOf(tenant), {});
    ASSERT_TRUE(response.ok()) << response.status();
    std::multiset<std::string> seen, own;
    for (const auto& mark : response->marks()) seen.insert(mark.label());
    for (size_t vm = 0; vm < kVms.size(); ++vm) {
      for (const int second : marked_[vm]) {
        if (IsOwn(tenant, vm, second)) own.insert(absl::StrCat(second));
      }
    }
    EXPECT_EQ(seen, own) << tenant;
  }

  void CheckAll() {
    for (const std::string& tenant : kTenants) {
      CheckHistory(tenant);
      CheckReplay(tenant);
      CheckMarks(tenant);
    }
    EXPECT_EQ(past_.reader.Get(*world_.reader.Identify(CredentialsOf("ops")), {})->devices(0).points_size(),
              static_cast<int>(publications_.size()))
        << "an operator sees all of the past";
  }

  FakeWorld world_;
  FakePast past_{world_};
  MarkBook book_{1, {.per_second = 100, .kept = 1024}};
  NoSink sink_;
  MarkQueries marks_{world_.reader, book_, sink_};
  const absl::Time start_ = world_.clock.Now();

  int now_ = 0;
  uint64_t published_ = 0;
  std::vector<Grant> grants_{kVms.size()};
  std::vector<int> begun_ = std::vector<int>(kVms.size(), -1);  // by VM: the second of the grant
  std::vector<int> publications_;
  std::vector<std::vector<int>> marked_{kVms.size()};
};

TEST_F(TenureTest, AVmBringsNothingOfItsLastTenant) {
  Publish();
  MarkVm(0);
  Publish();
  SetPolicy({{"b", {}}, {"b", {}}});
  CheckAll();
  EXPECT_EQ(past_.reader.Get(CallerOf("b"), {})->devices(0).series(0).scope().vm_uuid(), kVm1Uuid);
  Publish();
  MarkVm(0);
  CheckAll();
  SetPolicy({{"a", {}}, {"b", {}}});
  CheckAll();
}

TEST_F(TenureTest, NamesOfTheLastTenantAreNotThere) {
  Publish();
  // A topology without vm0's contexts.
  mailbox::Catalog catalog = world_.topology->catalog();
  std::erase_if(catalog.contexts, [](const mailbox::ContextInfo& context) { return context.name == "render"; });
  world_.topology = std::make_shared<const Topology>(std::move(catalog), world_.topology->hash() + 1);
  Publish();
  sideband::v1::GetHistoryRequest request;
  request.mutable_filter()->set_vm("vm0");
  request.mutable_filter()->set_context("render");
  EXPECT_TRUE(past_.reader.Get(CallerOf("a"), request).ok());
  SetPolicy({{"c", {}}, {"b", {}}});
  Publish();
  EXPECT_EQ(past_.reader.Get(CallerOf("c"), request).status(), NotFound());
}

TEST_F(TenureTest, ThePolicyMaySaySinceWhen) {
  Publish();
  Publish();
  const int from = now_;
  Publish();
  SetPolicy({{"c", from}, {"b", {}}});
  CheckAll();
  EXPECT_EQ(past_.reader.Get(CallerOf("c"), {})->devices(0).points_size(), 2);
  SetPolicy({{"c", {}}, {"b", {}}});
  CheckAll();
  EXPECT_EQ(past_.reader.Get(CallerOf("c"), {})->devices_size(), 0) << "the grant of the reload";
}

// A reload between the decision about a caller and its answer.
TEST_F(TenureTest, AnotherPolicyThanTheOneInForceShowsNoPast) {
  Publish();
  const Caller late = CallerOf("a");
  SetPolicy({{"b", {}}, {"b", {}}});
  EXPECT_EQ(past_.reader.Get(late, {})->devices_size(), 0);
}

TEST_F(TenureTest, AStepOfTheWallClockMovesNothing) {
  Publish();
  world_.clock.Step(absl::Hours(1));
  Publish();
  world_.clock.Step(-absl::Hours(1));
  SetPolicy({{"c", {}}, {"b", {}}});
  EXPECT_EQ(past_.reader.Get(CallerOf("c"), {})->devices_size(), 0);
}

// Random policies in time.
TEST_F(TenureTest, EachInstantIsItsTenantsAlone) {
  constexpr int kSteps = 250;
  for (const unsigned seed : {1u, 2u, 3u}) {
    std::mt19937 random(seed);
    const auto below = [&](int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random); };
    for (int step = 0; step < kSteps; ++step) {
      const int what = below(10);
      if (what < 6 || publications_.empty()) {
        Publish();
      } else if (what < 8) {
        MarkVm(static_cast<size_t>(below(2)));
      } else {
        std::vector<Grant> grants(kVms.size());
        for (size_t vm = 0; vm < kVms.size(); ++vm) {
          const int tenant = below(5);
          grants[vm] = tenant < 3 ? Grant{.tenant = kTenants[tenant]} : grants_[vm];
          if (below(4) == 0) grants[vm].since = below(now_ + 2);
          if (below(12) == 0) grants[vm] = {};
        }
        SetPolicy(grants);
      }
      if (step % 5 == 0 && !publications_.empty()) CheckAll();
      if (HasFailure()) FAIL() << "seed " << seed << ", step " << step;
    }
  }
}

}  // namespace
}  // namespace sideband::daemon
