// SPDX-License-Identifier: Apache-2.0
//
// A live device whose units are in clock domains (clocks.md).
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "proto/clocks/clock_strip.h"
#include "proto/clocks/mailbox_clocks.h"
#include "secure_mcu/chip/chip_clocks.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/device/live_device.h"
#include "sim/workload/workload.h"

namespace sideband::mcu {
namespace {

constexpr char kDomainsChip[] =
    "device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10}\n"
    "gap: 0ms\n"
    "domains:\n"
    "  - {name: sm, hz: 700000000, ppm: 37, wander_ppb_per_s: 100, steps: [{at: 2ms, hz: 1400000000}]}\n"
    "  - {name: l2, hz: 900000000, gated: [{from: 1ms, to: 3ms}]}\n"
    "units:\n"
    "  - {name: sm, events: [busy], domain: sm}\n"
    "  - {name: l2, events: [hits], domain: l2}\n"
    "  - {name: noc, events: [flits]}\n"
    "vms:\n"
    "  - name: vm1\n"
    "    uuid: 11111111-0000-4000-8000-000000000001\n"
    "    contexts: [{name: ctx, slice: 0, seed: 5, phases: [{kind: gemm, time: 1ms}, {kind: copy, time: 300us}]}]\n";

class DomainsTest : public testing::Test {
 protected:
  DomainsTest() {
    const std::string path = testing::TempDir() + "device_domains.yaml";
    std::ofstream(path) << kDomainsChip;
    file_ = *LoadChipFile(path);
    device_ = *LiveDevice::Create(file_, /*boot_id=*/1, [this] { return elapsed_; });
  }

  absl::Duration elapsed_;
  ChipFile file_;
  std::unique_ptr<LiveDevice> device_;
};

TEST_F(DomainsTest, EachUnitCountsTheCyclesOfItsClock) {
  elapsed_ = absl::Microseconds(4567);
  device_->Latch();
  const sim::Workload work =
      *sim::Workload::Create({.phases = {{sim::PhaseKind::kGemm, 1'000'000}, {sim::PhaseKind::kCopy, 300'000}},
                              .seed = 5,
                              .wire_events = {"busy", "hits", "flits"}});
  const auto counters = device_->BlockCounters(1, 0)->counters;
  const uint64_t cycle = 4'567'000;
  for (uint32_t domain = 0; domain < 3; ++domain) {
    // The event of the unit in domain d is d - 1, and the last one is in the reference clock's.
    const size_t event = domain == 0 ? 2 : domain - 1;
    const uint64_t cycles =
        domain == 0
            ? cycle
            : MakeClock(file_.pipeline, {.channel = 0, .domain = domain})->EdgesBefore(sim::InstantAtCycle(cycle) + 1);
    EXPECT_EQ(counters[event], work.CumulativeCount(static_cast<sim::WireId>(event), cycles)) << domain;
  }
}

TEST_F(DomainsTest, ALatchForTheControllerHasReadingsAndThatForGuestsLeavesNoPackets) {
  elapsed_ = absl::Milliseconds(1);
  device_->Observe();
  EXPECT_TRUE(device_->chip().clocks().PacketsFrom(0, 1'000'000).empty());
  device_->Latch();
  EXPECT_EQ(device_->chip().clocks().PacketsFrom(0, 1'000'000).size(), 1u);
  EXPECT_EQ(device_->chip().clocks().readings().size(), 2u);
}

TEST_F(DomainsTest, TheCatalogueHasTheDomainsOfItsEvents) {
  const mailbox::Catalog& catalog = device_->catalog();
  ASSERT_EQ(catalog.clock_domains.size(), 2u);
  EXPECT_EQ(catalog.clock_domains[0].name, "sm");
  EXPECT_EQ(catalog.clock_domains[0].slice, 0);
  EXPECT_TRUE(catalog.clock_domains[0].announces);
  EXPECT_TRUE(catalog.clock_domains[1].MayStop());
  EXPECT_EQ(catalog.events[0].details.clock_domain, 1);
  EXPECT_EQ(catalog.events[1].details.clock_domain, 2);
  EXPECT_EQ(catalog.events[2].details.clock_domain, 0) << "of the reference clock";
}

TEST_F(DomainsTest, ASnapshotHasTheClocksAtItsLatch) {
  elapsed_ = absl::Microseconds(500);
  const mailbox::Snapshot running = device_->Latch();
  ASSERT_EQ(running.clocks.size(), 2u);
  const uint64_t edges =
      MakeClock(file_.pipeline, {.channel = 0, .domain = 1})->EdgesBefore(sim::InstantAtCycle(500'000) + 1);
  ASSERT_TRUE(running.clocks[0].has_value());
  EXPECT_GE(running.clocks[0]->local_clock, edges);
  EXPECT_LE(running.clocks[0]->local_clock, edges + 4) << "the synchroniser's edges";
  EXPECT_TRUE(running.clocks[1].has_value());
  elapsed_ = absl::Milliseconds(2);
  EXPECT_FALSE(device_->Latch().clocks[1].has_value()) << "it stands still";
}

TEST_F(DomainsTest, TheTimelineHasWhatTheGridLeft) {
  ASSERT_TRUE(device_->SetTriggerGrid(100'000).ok());
  elapsed_ = absl::Milliseconds(1);
  const mailbox::Timeline timeline = device_->GetTimeline(0);
  ASSERT_EQ(timeline.entries.size(), 10u) << "the pipeline's own triggers have numbers, but no packets";
  for (size_t i = 0; i < timeline.entries.size(); ++i) {
    EXPECT_EQ(timeline.entries[i].kind, mailbox::TimelineKind::kGrid);
    EXPECT_EQ(timeline.entries[i].reference_cycle, 100'000 * (i + 1));
  }
  EXPECT_EQ(timeline.may_stop, 0b10u);
  const uint32_t third = timeline.entries[2].trigger_id, last = timeline.entries[9].trigger_id;
  EXPECT_EQ(device_->GetTimeline(third).entries.front().reference_cycle, 300'000u);
  EXPECT_EQ(device_->GetTimeline(third).entries.size(), 8u);
  ASSERT_TRUE(device_->SelectClocks(0b01).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(device_->SelectClocks(0b100)));
  elapsed_ = absl::Microseconds(1150);
  EXPECT_EQ(device_->GetTimeline(last + 1).entries.at(0).domains, 0b01u);
}

// A packet is of the newest trigger within its bar: two must not be possible (clocks.md, E2).
TEST(AmbiguousGridTest, IsRefused) {
  const std::string path = testing::TempDir() + "slow_domain.yaml";
  std::ofstream(path) << absl::StrReplaceAll(
      kDomainsChip, {{"{name: sm, hz: 700000000, ppm: 37", "{name: sm, hz: 2000, sync_edges: 2, ppm: 37"},
                     {", steps: [{at: 2ms, hz: 1400000000}]", ""}});
  const auto device = *LiveDevice::Create(*LoadChipFile(path), /*boot_id=*/1, [] { return absl::ZeroDuration(); });
  // The bar is a period of half a millisecond of that clock, and a little more.
  EXPECT_TRUE(absl::IsInvalidArgument(device->SetTriggerGrid(900'000)));
  EXPECT_TRUE(device->SetTriggerGrid(1'100'000).ok());
}

// Law 6: who has the hulls has the strip of all packets.
TEST_F(DomainsTest, HullsAreThoseOfThePackets) {
  ASSERT_TRUE(device_->SetTriggerGrid(50'000).ok());
  elapsed_ = absl::Microseconds(1950);
  const mailbox::ClockHulls hulls = device_->GetHulls(0);
  ASSERT_FALSE(hulls.hulls.empty());
  const mailbox::ClockHull& hull = hulls.hulls[0];
  EXPECT_EQ(hull.domain, 0);
  const mailbox::ClockDomain& domain = device_->catalog().clock_domains[0];
  auto strip = clocks::ClockStrip::Create(clocks::LimitsOf(domain), {});
  ASSERT_TRUE(strip.ok());
  clocks::PacketNumbers numbers;
  for (const mailbox::TimelineEntry& entry : device_->GetTimeline(0).entries) {
    if (entry.trigger_id > hull.last_trigger_id || !mailbox::HasDomain(entry.domains, 0)) continue;
    ASSERT_TRUE(strip->Add(clocks::PacketOf(domain, entry, entry.clocks[0], numbers)).ok());
  }
  EXPECT_EQ(clocks::HullsOf(hull), *strip->Hulls());
}

TEST_F(DomainsTest, ABookmarkIsInTheNextSnapshotsUntilTheContextIsSucceeded) {
  EXPECT_TRUE(absl::IsFailedPrecondition(device_->SetBookmark(1, 0, 17).status())) << "there is no grid";
  ASSERT_TRUE(device_->SetTriggerGrid(1'000'000).ok());
  elapsed_ = absl::Microseconds(2300);
  EXPECT_EQ(*device_->SetBookmark(1, 0, 17), 2'300'000u);
  EXPECT_TRUE(absl::IsUnavailable(device_->SetBookmark(1, 0, 18).status())) << "one is pending";
  EXPECT_EQ(*device_->SetBookmark(1, 0, 17), 2'300'000u) << "a controller that has not seen the answer";
  EXPECT_TRUE(absl::IsNotFound(device_->SetBookmark(1, 9, 18).status()));
  EXPECT_TRUE(absl::IsNotFound(device_->SetBookmark(9, mailbox::kNoContext, 18).status()));
  EXPECT_TRUE(device_->Latch().bookmarks.empty());
  elapsed_ = absl::Milliseconds(4);
  const mailbox::Snapshot snapshot = device_->Latch();
  ASSERT_EQ(snapshot.bookmarks.size(), 1u);
  const mailbox::ServedBookmark& served = snapshot.bookmarks[0];
  EXPECT_EQ(served.bookmark, 17u);
  EXPECT_EQ(served.asked_ns, 2'300'000u);
  EXPECT_EQ(served.served_ns, 3'000'000u);
  EXPECT_EQ(snapshot.blocks[served.block].vm, 1);
  EXPECT_EQ(snapshot.blocks[served.block].context, 0);
  const sim::Workload work =
      *sim::Workload::Create({.phases = {{sim::PhaseKind::kGemm, 1'000'000}, {sim::PhaseKind::kCopy, 300'000}},
                              .seed = 5,
                              .wire_events = {"busy", "hits", "flits"}});
  EXPECT_EQ(served.counters[2], work.CumulativeCount(2, 3'000'000)) << "of the reference clock, exactly";
}

}  // namespace
}  // namespace sideband::mcu
