// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/history_reader.h"

#include <gtest/gtest.h>

#include <set>

#include "absl/strings/str_cat.h"
#include "daemon/view/fake_world.h"
#include "daemon/view/row_filter.h"

namespace sideband::daemon {
namespace {

using sideband::v1::DeviceHistory;
using sideband::v1::GetHistoryRequest;
using sideband::v1::GetHistoryResponse;

class HistoryReaderTest : public testing::Test {
 protected:
  HistoryReaderTest() { world_.store.AddListener(history_); }
  ~HistoryReaderTest() override { world_.store.RemoveListener(history_); }

  absl::StatusOr<GetHistoryResponse> Ask(const std::string& who, const GetHistoryRequest& request = {}) {
    return HistoryReader(world_.reader, world_.store, history_)
        .Get(*world_.reader.Identify(CredentialsOf(who)), request);
  }
  // The history of the only device.
  DeviceHistory Device(const std::string& who, const GetHistoryRequest& request = {}) {
    const auto response = Ask(who, request);
    EXPECT_TRUE(response.ok()) << response.status();
    if (!response.ok() || response->devices_size() != 1) return {};
    return response->devices(0);
  }

  // Publishes once a second.
  void Publish(uint64_t first, uint64_t last) {
    for (uint64_t publication = first; publication <= last; ++publication) {
      world_.clock.Advance(absl::Seconds(1));
      world_.Publish(0, publication);
    }
  }
  // Publishes a changed snapshot of FakeWorld's.
  void PublishChanged(uint64_t publication, const std::function<void(DeviceSnapshot&)>& change) {
    world_.clock.Advance(absl::Seconds(1));
    world_.Publish(1, publication);
    auto snapshot = std::make_shared<DeviceSnapshot>(*world_.store.Newest(1));
    change(*snapshot);
    world_.store.Publish(0, snapshot);
  }

  static std::vector<uint64_t> Counts(const v1::HistorySeries& series, int column) {
    return {series.columns(column).counts().begin(), series.columns(column).counts().end()};
  }

  FakeWorld world_;
  History history_{{}, 2};
};

GetHistoryRequest Of(const std::string& vm, const std::string& context = "") {
  GetHistoryRequest request;
  request.mutable_filter()->set_device("gpu0");
  request.mutable_filter()->set_vm(vm);
  request.mutable_filter()->set_context(context);
  return request;
}

TEST_F(HistoryReaderTest, ATenantsOwnRowsAndEvents) {
  Publish(1, 3);
  const DeviceHistory history = Device("tenant-b");
  EXPECT_EQ(history.device(), "gpu0");
  ASSERT_EQ(history.points_size(), 3);
  EXPECT_EQ(history.points(2).snapshot_id(), 3u);
  EXPECT_EQ(history.points(2).reference_time_ns(), 3'000'000'000u);
  EXPECT_EQ(history.points(0).host_time().seconds(), history.oldest().seconds());
  EXPECT_EQ(history.points(1).host_time().seconds(), history.points(0).host_time().seconds() + 1);
  ASSERT_EQ(history.events_size(), 1);
  EXPECT_EQ(history.events(0), "cycles");
  ASSERT_EQ(history.series_size(), 1);
  const v1::HistorySeries& series = history.series(0);
  EXPECT_EQ(series.scope().vm_uuid(), kVm1Uuid);
  EXPECT_EQ(series.scope().context(), "train");
  EXPECT_EQ(series.scope().generation(), 1u);
  EXPECT_EQ(series.boot_id(), 77u);
  EXPECT_EQ(Counts(series, 0), (std::vector<uint64_t>{1050, 2050, 3050}));
}

TEST_F(HistoryReaderTest, TheOperatorsRowsAreWithoutContextsAndWithheldEvents) {
  Publish(1, 2);
  const DeviceHistory history = Device("ops");
  ASSERT_EQ(history.series_size(), 3) << "the device and two VMs";
  EXPECT_EQ(history.series(0).columns_size(), 2) << "pcie_bytes is withheld";
  for (const auto& series : history.series()) EXPECT_EQ(series.scope().context(), "");
}

TEST_F(HistoryReaderTest, AConfidentialVmHasNoHistory) {
  Publish(1, 2);
  EXPECT_EQ(Ask("tenant-c")->devices_size(), 0);
  EXPECT_EQ(Ask("tenant-c", Of("secret")).status(), NotFound());
  EXPECT_EQ(Ask("ops")->DebugString().find("secret"), std::string::npos);
}

TEST_F(HistoryReaderTest, DeniedAndAbsentAnswerAlike) {
  Publish(1, 2);
  for (const char* vm : {"vm1", kVm1Uuid, "absent", kSecretUuid}) {
    EXPECT_EQ(Ask("tenant-a", Of(vm)).status(), NotFound()) << vm;
  }
  GetHistoryRequest other;
  other.mutable_filter()->set_device("gpu1");
  EXPECT_EQ(Ask("tenant-a", other).status(), NotFound());
  EXPECT_EQ(Ask("ops", other)->devices_size(), 0) << "away, but the operator's";
}

TEST_F(HistoryReaderTest, FiltersAreThoseOfASnapshot) {
  Publish(1, 2);
  GetHistoryRequest request = Of("vm0", "render");
  request.mutable_filter()->add_events("dram_bytes");
  const DeviceHistory history = Device("tenant-a", request);
  ASSERT_EQ(history.series_size(), 1);
  EXPECT_EQ(Counts(history.series(0), 0), (std::vector<uint64_t>{1021, 2021}));
}

TEST_F(HistoryReaderTest, AWindowHasBothItsEnds) {
  Publish(1, 9);
  const DeviceHistory all = Device("tenant-b");
  GetHistoryRequest request;
  *request.mutable_since() = all.points(2).host_time();
  *request.mutable_until() = all.points(5).host_time();
  const DeviceHistory some = Device("tenant-b", request);
  EXPECT_EQ(Counts(some.series(0), 0), (std::vector<uint64_t>{3050, 4050, 5050, 6050}));
  EXPECT_EQ(some.oldest().seconds(), all.oldest().seconds()) << "whatever was asked for";
}

TEST_F(HistoryReaderTest, StepsAreThoseOfTheClock) {
  Publish(1, 40);
  GetHistoryRequest request;
  request.mutable_step()->set_seconds(10);
  const auto response = Ask("tenant-b", request);
  EXPECT_EQ(response->step().seconds(), 10);
  const DeviceHistory& history = response->devices(0);
  ASSERT_EQ(history.points_size(), 5);
  for (int i = 1; i < 5; ++i) EXPECT_EQ(history.points(i).host_time().seconds() % 10, 0);
}

TEST_F(HistoryReaderTest, BadRequestsNameTheField) {
  GetHistoryRequest request;
  request.mutable_step()->set_seconds(0);
  EXPECT_EQ(Ask("ops", request).status(), absl::InvalidArgumentError("step: must be above zero"));
  request.clear_step();
  request.mutable_since()->set_nanos(-1);
  EXPECT_EQ(Ask("ops", request).status(), absl::InvalidArgumentError("since: is no time"));
  request.mutable_since()->set_nanos(2);
  request.mutable_until()->set_nanos(1);
  EXPECT_EQ(Ask("ops", request).status(), absl::InvalidArgumentError("since: is after until"));
}

TEST_F(HistoryReaderTest, AHistoryOfNoBytesIsNone) {
  const Caller ops = *world_.reader.Identify(CredentialsOf("ops"));
  const History nothing({.max_bytes = 0}, 2);
  EXPECT_EQ(HistoryReader(world_.reader, world_.store, nothing).Get(ops, {}).status(),
            absl::FailedPreconditionError("this daemon keeps no history"));
}

TEST_F(HistoryReaderTest, RestartsBeginANewSeries) {
  Publish(1, 2);
  PublishChanged(3, [](DeviceSnapshot& snapshot) { snapshot.data.blocks[5].generation = 2; });
  PublishChanged(4, [](DeviceSnapshot& snapshot) {
    snapshot.data.blocks[5].generation = 2;
    snapshot.data.boot_id = 78;
  });
  const DeviceHistory history = Device("tenant-b", Of(""));
  ASSERT_EQ(history.series_size(), 3);
  EXPECT_EQ(Counts(history.series(0), 0), (std::vector<uint64_t>{1050, 2050}));
  EXPECT_EQ(history.series(1).scope().generation(), 2u);
  EXPECT_EQ(history.series(1).first_point(), 2u);
  EXPECT_EQ(history.series(2).boot_id(), 78u);
  EXPECT_EQ(history.series(2).first_point(), 3u);
}

TEST_F(HistoryReaderTest, OthersRestartsAreNotSeen) {
  Publish(1, 3);
  const std::string quiet = Ask("tenant-b")->DebugString();
  FakeWorld other;
  History history({}, 2);
  other.store.AddListener(history);
  for (uint64_t publication = 1; publication <= 3; ++publication) {
    other.clock.Advance(absl::Seconds(1));
    other.Publish(1, publication);
    auto snapshot = std::make_shared<DeviceSnapshot>(*other.store.Newest(1));
    snapshot->data.blocks[2].generation = static_cast<uint32_t>(publication);  // vm0's
    other.store.Publish(0, snapshot);
  }
  other.store.RemoveListener(history);
  GetHistoryRequest request = Of("");
  const Caller tenant = *other.reader.Identify(CredentialsOf("tenant-b"));
  EXPECT_EQ(HistoryReader(other.reader, other.store, history).Get(tenant, request)->DebugString(), quiet);
}

// With a step, the last counts before a restart are a point of their own, for their owner alone.
TEST_F(HistoryReaderTest, FinalCountsAreToldToTheirOwner) {
  Publish(1, 13);
  for (uint64_t p = 14; p <= 30; ++p) {
    PublishChanged(p, [](DeviceSnapshot& snapshot) { snapshot.data.blocks[5].generation = 2; });  // vm1's train
  }
  GetHistoryRequest request;
  request.mutable_filter()->set_device("gpu0");
  request.mutable_step()->set_seconds(10);
  const DeviceHistory owner = Device("tenant-b", request);
  EXPECT_EQ(Counts(owner.series(0), 0), (std::vector<uint64_t>{1050, 10050, 13050}));
  EXPECT_EQ(Counts(owner.series(1), 0), (std::vector<uint64_t>{20050, 30050}));
  EXPECT_EQ(Device("tenant-a", request).points_size(), 4);
}

// In time that has become coarser, final counts are kept at instants of their own: those, too, are their owner's alone.
TEST_F(HistoryReaderTest, FinalCountsOfOthersAreNotSeenInCoarserTime) {
  History small({.max_bytes = 64 << 10}, 2);
  world_.store.RemoveListener(history_);
  world_.store.AddListener(small);
  uint32_t generation = 1;
  for (uint64_t p = 1; p <= 6000; ++p) {
    if (p % 997 == 0) ++generation;
    PublishChanged(p, [&](DeviceSnapshot& snapshot) { snapshot.data.blocks[5].generation = generation; });
  }
  world_.store.RemoveListener(small);
  const auto coarse_instants = [&](const std::string& who) {
    const auto response =
        HistoryReader(world_.reader, world_.store, small).Get(*world_.reader.Identify(CredentialsOf(who)), Of(""));
    std::set<uint32_t> odd;
    const auto& points = response->devices(0).points();
    for (int i = 0; i + 1 < points.size() && points[i + 1].snapshot_id() > points[i].snapshot_id() + 1; ++i) {
      if (points[i].snapshot_id() % 10 != 0) odd.insert(points[i].snapshot_id());
    }
    return odd;
  };
  EXPECT_EQ(coarse_instants("tenant-a"), std::set<uint32_t>());
  EXPECT_TRUE(coarse_instants("tenant-b").contains(5 * 997 - 1));
}

// The id of a VM that has gone is another's now: each instant has its own names.
TEST_F(HistoryReaderTest, ReusedIdsBelongToWhoHadThem) {
  Publish(1, 2);
  mailbox::Catalog swapped = world_.topology->catalog();
  std::swap(swapped.vms[0].uuid, swapped.vms[1].uuid);
  std::swap(swapped.vms[0].name, swapped.vms[1].name);
  const auto topology = std::make_shared<Topology>(swapped, 6);
  for (uint64_t p : {3, 4}) {
    PublishChanged(p, [&](DeviceSnapshot& snapshot) { snapshot.topology = topology; });
  }
  const DeviceHistory history = Device("tenant-a", Of(""));
  std::set<uint64_t> counts;
  for (const auto& series : history.series()) {
    EXPECT_EQ(series.scope().vm_uuid(), kVm0Uuid);
    for (const uint64_t count : series.columns(0).counts()) counts.insert(count);
  }
  // First rows 1 to 3, then rows 4 and 5.
  EXPECT_EQ(counts, (std::set<uint64_t>{1010, 1020, 1030, 2010, 2020, 2030, 3040, 3050, 4040, 4050}));
}

TEST_F(HistoryReaderTest, WhatHasGoneIsStillItsOwners) {
  Publish(1, 2);
  mailbox::Catalog without = world_.topology->catalog();
  without.vms.erase(without.vms.begin() + 1);
  without.contexts.erase(without.contexts.begin() + 2);
  const auto topology = std::make_shared<Topology>(without, 6);
  PublishChanged(3, [&](DeviceSnapshot& snapshot) {
    snapshot.topology = topology;
    snapshot.data.blocks.resize(4);
    snapshot.data.counters.resize(12);
  });
  EXPECT_EQ(Counts(Device("tenant-b", Of("vm1")).series(0), 0), (std::vector<uint64_t>{1050, 2050}));
  const std::vector<AuditEntry> told = world_.audit.Entries(AuditKind::kView);
  ASSERT_EQ(told.size(), 3u) << "what tenant-b may see of both devices now, and what it might of gpu0";
  EXPECT_EQ(told[2].principal, "spiffe://example.org/tenant-b");
  EXPECT_EQ(told[2].resource, "device gpu0");
  EXPECT_EQ(told[2].reason, "first request of this role for this past");
  EXPECT_EQ(Ask("tenant-a", Of("vm1")).status(), NotFound());
}

TEST_F(HistoryReaderTest, ThePolicyOfTodayHolds) {
  Publish(1, 2);
  world_.policy.Replace(FakePolicy(/*vm0=*/"00000000-0000-0000-0000-0000000000ff"));
  EXPECT_EQ(Ask("tenant-a", Of("vm0")).status(), NotFound());
}

// The device's row, also one without a confidential VM, goes on whatever becomes of the others.
TEST_F(HistoryReaderTest, AnotherRowsEndDoesNotEndTheDevices) {
  Publish(1, 2);
  PublishChanged(3, [](DeviceSnapshot& snapshot) { snapshot.data.blocks[4].generation = 2; });
  const DeviceHistory history = Device("ops", Of(""));
  EXPECT_TRUE(history.series(0).scope().vm().empty());
  EXPECT_EQ(history.series(0).columns(0).counts_size(), 3);
  EXPECT_EQ(history.series_size(), 4) << "the device, one VM, and two generations of the other";
}

TEST_F(HistoryReaderTest, StatusesAreToldWhereTheyChange) {
  Publish(1, 3);
  PublishChanged(4, [](DeviceSnapshot& snapshot) {
    snapshot.data.blocks[5].flags = mailbox::kFlagMmuFault;
    snapshot.data.blocks[5].state = mailbox::BlockState::kRetired;
  });
  const DeviceHistory history = Device("tenant-b", Of(""));
  ASSERT_EQ(history.series(0).statuses_size(), 2);
  EXPECT_EQ(history.series(0).statuses(0).point(), 0u);
  EXPECT_EQ(history.series(0).statuses(0).state(), v1::ScopeCounters::STATE_ACTIVE);
  EXPECT_EQ(history.series(0).statuses(1).point(), 3u);
  EXPECT_EQ(history.series(0).statuses(1).state(), v1::ScopeCounters::STATE_RETIRED);
  EXPECT_EQ(history.series(0).statuses(1).flags(0), "mmu_fault");
}

// A device with so many rows that an answer has room for few points.
class LargeHistoryTest : public HistoryReaderTest {
 protected:
  void PublishLarge(uint32_t events, uint64_t snapshots) {
    mailbox::Catalog catalog;
    for (uint32_t event = 0; event < events; ++event) catalog.events.push_back({.name = absl::StrCat("event_", event)});
    catalog.vms = {{1, *Uuid::Parse(kVm0Uuid), "vm0", false, 0, 1}};
    DeviceSnapshot snapshot;
    snapshot.topology = std::make_shared<Topology>(std::move(catalog), 1);
    snapshot.data = {.counters_per_block = events, .blocks = {{}, {.vm = 1}}};
    snapshot.data.counters.assign(2 * events, 1);
    for (uint64_t publication = 1; publication <= snapshots; ++publication) {
      snapshot.publication = publication;
      snapshot.data.reference_time_ns += 1'000'000'000;
      snapshot.host_time = absl::FromUnixSeconds(1'800'000'000 + static_cast<int64_t>(publication));
      world_.store.Publish(0, std::make_shared<DeviceSnapshot>(snapshot));
    }
  }
};

TEST_F(LargeHistoryTest, AnAnswerThatIsTooLargeHasALongerStep) {
  PublishLarge(4000, 600);
  const auto response = Ask("ops");
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->step().seconds(), 15);
  EXPECT_LE(response->ByteSizeLong(), kHistoryAnswerBytesMax);
  EXPECT_GE(response->devices(0).points_size(), 38);
  GetHistoryRequest one = Of("vm0");
  one.mutable_filter()->add_events("event_7");
  EXPECT_EQ(Device("tenant-a", one).points_size(), 600);
  EXPECT_FALSE(Ask("tenant-a", one)->has_step());
}

}  // namespace
}  // namespace sideband::daemon
