// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/snapshot_message.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/snapshot/message.h"
#include "daemon/view/fake_world.h"

namespace sideband::daemon {
namespace {

class SnapshotMessageTest : public testing::Test {
 protected:
  SnapshotMessageTest() { world_.Publish(0, 1); }

  VisibleDevice See(const std::string& who) {
    return world_.reader.Devices(*world_.reader.Identify(CredentialsOf(who))).front();
  }

  // "vm/context: event=count …" per row.
  static std::string Rows(const sideband::v1::Snapshot& snapshot) {
    std::string text;
    for (const auto& scope : snapshot.scopes()) {
      absl::StrAppend(&text, scope.scope().vm(), "/", scope.scope().context(), ":");
      for (const auto& counter : scope.counters()) absl::StrAppend(&text, " ", counter.event(), "=", counter.count());
      absl::StrAppend(&text, "; ");
    }
    return text;
  }

  std::string Rows(const std::string& who, const sideband::v1::Filter& filter = {}) {
    return Rows(SnapshotMessage(See(who), RowFilter(filter)));
  }

  FakeWorld world_;
};

TEST_F(SnapshotMessageTest, EachSeesItsRows) {
  EXPECT_EQ(Rows("ops"),
            "/: cycles=1000 dram_bytes=1001; vm0/: cycles=1010 dram_bytes=1011; "
            "vm1/: cycles=1040 dram_bytes=1041; ")
      << "pcie_bytes is withheld: a confidential VM is on the device";
  EXPECT_EQ(Rows("tenant-a"),
            "vm0/: cycles=1010 dram_bytes=1011; vm0/render: cycles=1020 dram_bytes=1021; "
            "vm0/compute: cycles=1030 dram_bytes=1031; ");
  EXPECT_EQ(Rows("tenant-b"), "vm1/train: cycles=1050; ");
  EXPECT_EQ(Rows("tenant-c"), "");
}

TEST_F(SnapshotMessageTest, AnEstimateIsShownWithHowExactItIs) {
  world_.topology = RotatingTopology();
  world_.Publish(0, 1);
  EXPECT_EQ(Rows("ops"),
            "/: cycles=1000 dram_bytes=2002; vm0/: cycles=1010 dram_bytes=2022; vm1/: cycles=1040 dram_bytes=2082; ");
  const auto message = SnapshotMessage(See("ops"), RowFilter());
  const sideband::v1::ScopeCounters& vm0 = message.scopes(1);
  EXPECT_EQ(absl::StrJoin(vm0.flags(), ","), "estimated,partial");
  EXPECT_FALSE(vm0.counters(0).has_estimate()) << "cycles are exact";
  EXPECT_FALSE(vm0.counters(0).has_coverage());
  const sideband::v1::Counter& dram = vm0.counters(1);
  EXPECT_EQ(dram.coverage(), 0.5);
  EXPECT_EQ(dram.estimate().lower(), 1011u);
  EXPECT_EQ(dram.estimate().upper(), 4044u);
  EXPECT_EQ(dram.estimate().standard_error(), 7u);
  EXPECT_EQ(dram.estimate().time_enabled_ns(), 1000u);
  EXPECT_EQ(dram.estimate().time_running_ns(), 500u);
  EXPECT_EQ(dram.estimate().method(), sideband::v1::Estimate::METHOD_RANDOM_TURNS);
  const auto of_b = SnapshotMessage(See("tenant-b"), RowFilter());
  ASSERT_EQ(of_b.scopes_size(), 1);
  EXPECT_TRUE(of_b.scopes(0).flags().empty()) << "it sees no estimate";
}

TEST_F(SnapshotMessageTest, WhoSeesTheDeviceSeesTheHypervisorOnItsSlices) {
  const std::string of_a = Rows("tenant-a"), of_b = Rows("tenant-b");
  world_.AddHostBlocks();
  world_.Publish(0, 1);
  const auto message = SnapshotMessage(See("ops"), RowFilter());
  EXPECT_EQ(Rows(message),
            "/: cycles=1000 dram_bytes=1001; vm0/: cycles=1010 dram_bytes=1011; "
            "vm1/: cycles=1040 dram_bytes=1041; /: cycles=1060 dram_bytes=1061; /: cycles=1070 dram_bytes=1071; ");
  EXPECT_FALSE(message.scopes(0).scope().host());
  EXPECT_FALSE(message.scopes(0).scope().has_slice());
  for (const int slice : {0, 1}) {
    const sideband::v1::Scope& scope = message.scopes(3 + slice).scope();
    EXPECT_TRUE(scope.host());
    EXPECT_EQ(scope.slice(), static_cast<uint32_t>(slice));
    EXPECT_EQ(scope.generation(), 1u);
  }
  EXPECT_EQ(Rows("tenant-a"), of_a);
  EXPECT_EQ(Rows("tenant-b"), of_b);
  EXPECT_EQ(Rows("tenant-c"), "");
  sideband::v1::Filter filter;
  filter.set_vm("vm0");
  EXPECT_EQ(Rows("ops", filter), "vm0/: cycles=1010 dram_bytes=1011; ") << "a host is no VM";
  const auto scopes = [&](const std::string& who) {
    size_t hosts = 0;
    for (const sideband::v1::Scope& scope : ScopeMessages(*See(who).info, *See(who).view))
      hosts += scope.host() ? 1 : 0;
    return hosts;
  };
  EXPECT_EQ(scopes("ops"), 2u);
  EXPECT_EQ(scopes("tenant-a"), 0u);
}

TEST_F(SnapshotMessageTest, AMaskedEventHasNoCounter) {
  mailbox::Catalog catalog = world_.topology->catalog();
  catalog.events[0].masked = true;  // cycles
  world_.topology = std::make_shared<Topology>(catalog, 6);
  world_.Publish(0, 2);
  EXPECT_EQ(Rows("tenant-a"), "vm0/: dram_bytes=2011; vm0/render: dram_bytes=2021; vm0/compute: dram_bytes=2031; ");
  EXPECT_EQ(SnapshotMessage(See("tenant-a"), RowFilter()).scopes(0).ratios_size(), 0);
  EXPECT_TRUE(EventMessage(*world_.topology, 0).masked());
  EXPECT_FALSE(EventMessage(*world_.topology, 1).masked());
}

TEST_F(SnapshotMessageTest, FiltersNarrow) {
  sideband::v1::Filter filter;
  filter.set_context("render");
  filter.add_events("cycles");
  EXPECT_EQ(Rows("tenant-a", filter), "vm0/render: cycles=1020; ");
  filter.set_vm("vm1");
  EXPECT_EQ(Rows("tenant-a", filter), "");
}

TEST_F(SnapshotMessageTest, CarriesTimesFlagsAndRates) {
  world_.Publish(0, 2);
  const auto message = SnapshotMessage(See("tenant-a"), RowFilter());
  EXPECT_EQ(message.device(), "gpu0");
  EXPECT_EQ(message.boot_id(), 77u);
  EXPECT_EQ(message.snapshot_id(), 2u);
  EXPECT_EQ(message.reference_time_ns(), 2'000'000'000u);
  EXPECT_EQ(message.host_time().seconds(), 1'800'000'000);
  EXPECT_EQ(message.host_time_error().nanos(), 2'000'000);
  const auto& compute = message.scopes(2);
  EXPECT_EQ(absl::StrJoin(compute.flags(), ","), "overflow,estimated");
  EXPECT_EQ(compute.state(), sideband::v1::ScopeCounters::STATE_ACTIVE);
  EXPECT_EQ(compute.scope().slice(), 0u);
  EXPECT_TRUE(compute.scope().has_slice());
  EXPECT_EQ(compute.scope().vm_uuid(), kVm0Uuid);
  EXPECT_DOUBLE_EQ(compute.counters(0).rate_per_second(), 2.5);
}

// cycles of four units in each slice; dram_bytes becomes resident_cycles.
TEST_F(SnapshotMessageTest, CarriesUtilisations) {
  mailbox::Catalog catalog = world_.topology->catalog();
  catalog.events[0].details.slices = {{.capacity_q32 = uint64_t{4} << 32}};
  catalog.events[1].name = "resident_cycles";
  world_.topology = std::make_shared<Topology>(catalog, 6);
  world_.Publish(0, 2);
  const auto message = SnapshotMessage(See("tenant-a"), RowFilter());
  EXPECT_EQ(message.elapsed().seconds(), 1);
  ASSERT_EQ(message.scopes(0).ratios_size(), 1);
  const auto& of_vm = message.scopes(0).ratios(0);
  EXPECT_EQ(of_vm.name(), "cycles");
  EXPECT_EQ(of_vm.event(), "cycles");
  EXPECT_EQ(of_vm.formula(), "");
  EXPECT_DOUBLE_EQ(of_vm.numerator_per_second(), 2.5);
  EXPECT_DOUBLE_EQ(of_vm.denominator_per_second(), 4e9);
  EXPECT_DOUBLE_EQ(of_vm.value(), 2.5 / 4e9);
  EXPECT_DOUBLE_EQ(message.scopes(1).ratios(0).value(), 0.25) << "of a context: in its resident cycles";
  EXPECT_DOUBLE_EQ(message.scopes(1).ratios(0).denominator_per_second(), 4 * 2.5);
  const auto b = SnapshotMessage(See("tenant-b"), RowFilter());
  ASSERT_EQ(b.scopes_size(), 1);
  EXPECT_EQ(b.scopes(0).ratios_size(), 0) << "resident_cycles are not granted";
  world_.Publish(0, 1);
  EXPECT_FALSE(SnapshotMessage(See("tenant-a"), RowFilter()).has_elapsed());
}

class GatedSnapshotMessageTest : public SnapshotMessageTest {
 protected:
  GatedSnapshotMessageTest() {
    world_.topology = GatedTopology();
    world_.Publish(0, 2);
  }
  // Each row counts cycles, resident_cycles and the running cycles.
  sideband::v1::ScopeCounters RowOf(const std::vector<uint64_t>& counts, const std::vector<double>& rates) {
    world_.PublishRows(0, counts, rates);
    return SnapshotMessage(See("tenant-a"), RowFilter()).scopes(0);
  }
};

TEST_F(GatedSnapshotMessageTest, ACounterHasTheCoverageOfItsCountAndOfItsRate) {
  const auto row = RowOf({70, 1000, 900}, {7, 100, 25});
  ASSERT_EQ(row.counters_size(), 3);
  EXPECT_DOUBLE_EQ(row.counters(0).coverage(), 0.9);
  EXPECT_DOUBLE_EQ(row.counters(0).rate_coverage(), 0.25);
  for (const int ungated : {1, 2}) {
    EXPECT_FALSE(row.counters(ungated).has_coverage());
    EXPECT_FALSE(row.counters(ungated).has_rate_coverage());
  }
  EXPECT_EQ(RowOf({70, 1000, 1000}, {7, 100, 100}).counters(0).coverage(), 1);
}

TEST_F(GatedSnapshotMessageTest, AnEventThatWasNeverCountedIsAbsent) {
  const auto row = RowOf({0, 1000, 0}, {0, 100, 0});
  ASSERT_EQ(row.counters_size(), 2);
  EXPECT_EQ(row.counters(0).event(), "resident_cycles");
  EXPECT_EQ(row.counters(1).count(), 0u) << "that it never ran is a number";
}

TEST_F(GatedSnapshotMessageTest, WithoutAnIntervalTheCountAloneHasACoverage) {
  const auto row = RowOf({70, 1000, 900}, {NAN, NAN, NAN});
  EXPECT_DOUBLE_EQ(row.counters(0).coverage(), 0.9);
  EXPECT_FALSE(row.counters(0).has_rate_per_second());
  EXPECT_FALSE(row.counters(0).has_rate_coverage());
  EXPECT_FALSE(RowOf({70, 1000, 900}, {0, 0, 0}).counters(0).has_rate_coverage()) << "resident in no cycle";
}

TEST_F(GatedSnapshotMessageTest, WhoMayReadACountMayReadItsCoverage) {
  world_.PublishRows(0, {70, 1000, 900}, {7, 100, 25});
  const auto row = SnapshotMessage(See("tenant-b"), RowFilter()).scopes(0);
  ASSERT_EQ(row.counters_size(), 1) << "cycles alone are granted";
  EXPECT_DOUBLE_EQ(row.counters(0).coverage(), 0.9);
}

TEST_F(GatedSnapshotMessageTest, AnEventTellsItsGroup) {
  EXPECT_EQ(EventMessage(*world_.topology, 0).gate_group(), "g");
  EXPECT_FALSE(EventMessage(*world_.topology, 1).has_gate_group());
  EXPECT_FALSE(EventMessage(*world_.topology, 2).has_gate_group()) << "running cycles are complete";
}

TEST_F(GatedSnapshotMessageTest, SealedRowsSayWhatWasNotCounted) {
  const auto sealed = [&](const std::vector<uint64_t>& counts, Uncounted uncounted) {
    world_.PublishRows(0, counts, {NAN});
    const auto snapshot = world_.store.Newest(0);
    sideband::v1::ScopeCounters out;
    FillScopeCounters(*world_.store.Info(0), *snapshot->topology, snapshot->data, 1, uncounted, out);
    return out;
  };
  const auto partial = sealed({70, 1000, 900}, Uncounted::kDropped);
  EXPECT_EQ(absl::StrJoin(partial.flags(), ","), "partial");
  EXPECT_DOUBLE_EQ(partial.counters(0).coverage(), 0.9);
  EXPECT_EQ(sealed({70, 1000, 1000}, Uncounted::kDropped).flags_size(), 0);
  const auto never = sealed({0, 1000, 0}, Uncounted::kDropped);
  EXPECT_EQ(never.counters_size(), 2);
  EXPECT_EQ(absl::StrJoin(never.flags(), ","), "partial");
  EXPECT_EQ(sealed({0, 1000, 0}, Uncounted::kKept).counters_size(), 3);
}

TEST_F(SnapshotMessageTest, AStaleDeviceHasNoRatesAndSaysSo) {
  world_.Publish(0, 2);
  VisibleDevice device = See("tenant-a");
  EXPECT_EQ(SnapshotMessage(device, RowFilter()).device_state(), sideband::v1::Device::STATE_FRESH);
  device.state = VisibleDevice::State::kStale;
  device.age = absl::Seconds(14);
  const auto message = SnapshotMessage(device, RowFilter());
  EXPECT_EQ(message.device_state(), sideband::v1::Device::STATE_STALE);
  EXPECT_EQ(message.age().seconds(), 14);
  EXPECT_EQ(Rows(message), Rows("tenant-a")) << "the counts are what they were";
  for (const auto& scope : message.scopes()) {
    EXPECT_EQ(scope.ratios_size(), 0);
    for (const auto& counter : scope.counters()) EXPECT_FALSE(counter.has_rate_per_second());
  }
}

TEST_F(SnapshotMessageTest, AnUnknownRateIsAbsent) {
  EXPECT_FALSE(SnapshotMessage(See("ops"), RowFilter()).scopes(0).counters(0).has_rate_per_second());
}

TEST_F(SnapshotMessageTest, ScopesAreWhatMayBeReadAndConfidentialVms) {
  const auto names = [&](const std::string& who) {
    std::string text;
    for (const auto& scope : ScopeMessages(*See(who).info, *See(who).view)) {
      absl::StrAppend(&text, scope.vm(), "/", scope.context(), scope.confidential() ? " (sealed)" : "", "; ");
    }
    return text;
  };
  EXPECT_EQ(names("ops"), "/; vm0/; vm1/; secret/ (sealed); ");
  EXPECT_EQ(names("tenant-a"), "vm0/; vm0/render; vm0/compute; ");
  EXPECT_EQ(names("tenant-b"), "vm1/train; ");
  EXPECT_EQ(names("tenant-c"), "secret/ (sealed); ");
}

TEST_F(SnapshotMessageTest, SealedRowsHoldEverythingOfTheVm) {
  sideband::v1::ScopeCounters out;
  const auto snapshot = world_.store.Newest(0);
  FillScopeCounters(*world_.store.Info(0), *snapshot->topology, snapshot->data, 3, Uncounted::kDropped, out);
  EXPECT_EQ(out.scope().context(), "compute");
  ASSERT_EQ(out.counters_size(), 2) << "device-scope events are the device's";
  EXPECT_EQ(out.counters(1).count(), 1031u);
}

TEST_F(SnapshotMessageTest, ADeviceThatIsAwayHasANameOnly) {
  const VisibleDevice away{.index = 1, .info = world_.store.Info(1)};
  const auto message = DeviceMessage(away);
  EXPECT_EQ(message.name(), "gpu1");
  EXPECT_EQ(message.state(), sideband::v1::Device::STATE_AWAY);
  EXPECT_EQ(message.interval().seconds(), 1);
  EXPECT_EQ(message.uuid(), "");
  EXPECT_EQ(DeviceMessage(See("ops")).uuid(), "00000000-0000-0000-0000-0000000000d0");
}

class SnapshotBodiesTest : public testing::Test {
 protected:
  SnapshotBodiesTest() { world_.Publish(0, 1); }

  VisibleDevice See(const std::string& who) {
    return world_.reader.Devices(*world_.reader.Identify(CredentialsOf(who))).front();
  }
  std::shared_ptr<const SnapshotBody> Body(const std::string& who, const RowFilter& filter = {}) {
    return bodies_.Get(See(who), filter).body;
  }
  static RowFilter Events(const std::vector<std::string>& events) {
    sideband::v1::Filter filter;
    for (const std::string& event : events) filter.add_events(event);
    return RowFilter(filter);
  }
  bool HasMetric(const std::string& name, size_t value) {
    return absl::StrContains(metrics_->Serialize(), absl::StrCat("\n", name, " ", value, "\n"));
  }
  bool HasMade(size_t serialisations) {
    return HasMetric("sideband_grpc_snapshot_serialisations_total", serialisations);
  }

  FakeWorld world_;
  const std::unique_ptr<SelfMetrics> metrics_ = *SelfMetrics::Create({.version = "1"});
  SnapshotBodies bodies_{world_.reader, *metrics_};
};

TEST_F(SnapshotBodiesTest, BothPartsAreTheMessage) {
  world_.clock.Advance(absl::Milliseconds(1234));
  const VisibleDevice device = See("tenant-a");
  const SharedSnapshot shared = bodies_.Get(device, {});
  sideband::v1::Snapshot message;
  ASSERT_TRUE(message.ParseFromString(absl::StrCat(shared.body->bytes, shared.moment)));
  EXPECT_EQ(message.DebugString(), SnapshotMessage(device, {}).DebugString());
  EXPECT_EQ(message.age().nanos(), 234'000'000);
  EXPECT_TRUE(shared.body->has_rows);
  EXPECT_FALSE(Body("tenant-c")->has_rows) << "only sealed";
}

TEST_F(SnapshotBodiesTest, AViewHasOneBodyHoweverManyAsk) {
  const auto body = Body("tenant-a");
  for (int i = 0; i < 999; ++i) EXPECT_EQ(Body("tenant-a"), body);
  EXPECT_TRUE(HasMade(1));
  EXPECT_TRUE(HasMetric("sideband_grpc_snapshots_total", 1000));
  world_.clock.Advance(absl::Seconds(1));
  EXPECT_EQ(Body("tenant-a"), body) << "the age is not a part of it";
}

TEST_F(SnapshotBodiesTest, ViewsHaveTheirOwn) {
  EXPECT_NE(Body("tenant-a"), Body("tenant-b"));
  EXPECT_NE(Body("ops")->bytes, Body("tenant-a")->bytes);
  EXPECT_TRUE(HasMade(3));
}

TEST_F(SnapshotBodiesTest, APublicationDropsThem) {
  std::weak_ptr<const SnapshotBody> body = Body("tenant-a");
  EXPECT_FALSE(body.expired());
  world_.Publish(1, 1);
  EXPECT_FALSE(body.expired()) << "another device's";
  world_.Publish(0, 2);
  EXPECT_TRUE(body.expired()) << "at once, not at the next request";
  EXPECT_EQ(bodies_.kept(), 0u);
  EXPECT_TRUE(Body("tenant-a")->has_rows);
  EXPECT_TRUE(HasMade(2));
}

TEST_F(SnapshotBodiesTest, AChangeOfThePolicyDropsThem) {
  std::weak_ptr<const SnapshotBody> body = Body("tenant-a");
  const VisibleDevice before = See("tenant-a");
  world_.policy.Replace(FakePolicy("00000000-0000-0000-0000-0000000000ff"));
  EXPECT_TRUE(body.expired());
  EXPECT_TRUE(bodies_.Get(before, {}).body->has_rows) << "of a request under the old policy";
  EXPECT_EQ(world_.reader.Devices(*world_.reader.Identify(CredentialsOf("tenant-a"))).size(), 0u);
}

TEST_F(SnapshotBodiesTest, AStaleDeviceHasNoRates) {
  world_.Publish(0, 2);
  const auto fresh = Body("tenant-a");
  world_.clock.Advance(absl::Seconds(10));
  const auto stale = Body("tenant-a");
  EXPECT_GT(fresh->bytes.size(), stale->bytes.size());
  EXPECT_EQ(Body("tenant-a"), stale);
}

TEST_F(SnapshotBodiesTest, ALateReaderDisplacesNothing) {
  const VisibleDevice late = See("tenant-a");
  world_.Publish(0, 2);
  const auto newest = Body("tenant-a");
  EXPECT_NE(bodies_.Get(late, {}).body, newest);
  EXPECT_EQ(Body("tenant-a"), newest);
}

TEST_F(SnapshotBodiesTest, EqualFiltersShare) {
  const auto body = Body("ops", Events({"cycles"}));
  EXPECT_NE(body, Body("ops"));
  EXPECT_EQ(body, Body("ops", Events({"cycles"})));
  EXPECT_NE(body, Body("ops", Events({"dram_bytes"})));
  EXPECT_TRUE(HasMade(3));
}

TEST_F(SnapshotBodiesTest, AsManyFiltersAsAreAllowedAreKept) {
  for (size_t i = 0; i < 100; ++i) Body("ops", Events({absl::StrCat("no-such-event-", i)}));
  EXPECT_EQ(bodies_.kept(), SnapshotBodies::kFiltersMax);
  const auto without = Body("ops");
  EXPECT_EQ(Body("ops"), without) << "the view's own body is kept nevertheless";
  EXPECT_EQ(bodies_.kept(), SnapshotBodies::kFiltersMax + 1);
  Body("tenant-a", Events({"cycles"}));
  EXPECT_EQ(bodies_.kept(), SnapshotBodies::kFiltersMax + 2) << "another view has its own bound";
}

TEST_F(SnapshotBodiesTest, ALongFilterIsNotKept) {
  Body("ops", Events({std::string(SnapshotBodies::kFilterKeyBytesMax, 'e')}));
  EXPECT_EQ(bodies_.kept(), 0u);
}

// While the log takes no entries, ViewCache keeps no view.
TEST_F(SnapshotBodiesTest, ViewsThatNobodyHoldsAreDropped) {
  world_.audit.SetRoom(0);
  for (int i = 0; i < 20; ++i) Body("tenant-a");
  EXPECT_LE(bodies_.kept(), 2u);
  EXPECT_TRUE(HasMade(20)) << "each request has a view of its own";
}

TEST_F(SnapshotBodiesTest, DemandsAtOneTimeShareToo) {
  std::vector<std::shared_ptr<const SnapshotBody>> bodies(8);
  {
    std::vector<std::jthread> threads;
    const VisibleDevice device = See("tenant-a");
    for (auto& body : bodies) threads.emplace_back([&body, device, this] { body = bodies_.Get(device, {}).body; });
  }
  for (const auto& body : bodies) EXPECT_EQ(body, bodies[0]);
  EXPECT_TRUE(HasMade(1));
}

TEST_F(SnapshotBodiesTest, PublicationsMayComeAtAnyTime) {
  std::jthread collector([this] {
    for (uint64_t p = 2; p <= 200; ++p) world_.Publish(0, p);
  });
  std::vector<std::jthread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([this] {
      for (int n = 0; n < 200; ++n) {
        const VisibleDevice device = See("tenant-a");
        sideband::v1::Snapshot message;
        EXPECT_TRUE(message.ParseFromString(bodies_.Get(device, {}).body->bytes));
        EXPECT_EQ(message.snapshot_id(), device.snapshot->data.snapshot_id);
      }
    });
  }
}

}  // namespace

}  // namespace sideband::daemon
