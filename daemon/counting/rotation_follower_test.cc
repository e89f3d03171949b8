// SPDX-License-Identifier: Apache-2.0
#include "daemon/counting/rotation_follower.h"

#include <gtest/gtest.h>

#include "absl/time/time.h"
#include "daemon/snapshot/fake_topology.h"

namespace sideband::daemon {
namespace {

constexpr char kSets[] =
    "events: they may need more counter sets than the VM and the device have left; fewer events need fewer";

// Of turns that are as long as the device's own.
mailbox::RotationRequest SomeRequest() { return {.vm = kRotatingVm, .events = {0b0110}}; }

std::string Text(const mailbox::RotationRequest& request, const mailbox::Catalog& catalog = RotatingCatalog()) {
  return RefusalText(request, catalog);
}

std::string Expected(const std::string& reason) {
  return "the device refuses this rotation: " + reason + (reason.empty() ? "" : "; or ") + kSets;
}

TEST(RotationRefusalTest, WhatTheOwnPlanExcludesIsLeftOut) {
  EXPECT_EQ(Text(SomeRequest()), Expected(""));
  mailbox::RotationRequest request = SomeRequest();
  request.settings.stable_slot = request.settings.fluctuating_slot;
  EXPECT_EQ(Text(request), Expected(""));
}

TEST(RotationRefusalTest, ATimeBeyondTheOwnOnesIsNamed) {
  mailbox::RotationRequest request = SomeRequest();
  request.settings.fluctuating_slot = 500;
  EXPECT_EQ(Text(request),
            Expected("slots.fluctuating: 500ns may be shorter than the device allows, which is half of its own slots"));
  request = SomeRequest();
  request.settings.stable_slot = 8'000'000'000;
  EXPECT_EQ(Text(request), Expected("slots.stable: 8s may be longer than the device can measure"));
  request = SomeRequest();
  request.settings.interval = 7;
  EXPECT_EQ(Text(request),
            Expected("interval: 7ns may be shorter than the device allows, which is half of its own slots"));
}

TEST(RotationRefusalTest, TimesAreInCyclesWhereTheClockIsUnknown) {
  mailbox::Catalog catalog = RotatingCatalog();
  catalog.reference_clock_hz = 0;
  mailbox::RotationRequest request = SomeRequest();
  request.settings.fluctuating_slot = 500;
  EXPECT_EQ(
      Text(request, catalog),
      Expected("slots.fluctuating: 500 cycles may be shorter than the device allows, which is half of its own slots"));
}

TEST(RotationRefusalTest, EventsOfEverySetMayLeaveNoCounter) {
  mailbox::RotationRequest request = SomeRequest();
  request.always = {0b0000};
  EXPECT_EQ(Text(request), Expected(""));
  request.always = {0b0100};
  EXPECT_EQ(Text(request), Expected("always: these events may leave too few counters for the others"));
}

TEST(RotationRefusalTest, GateGroupsOfTheRequestMayBePinned) {
  mailbox::Catalog catalog = RotatingCatalog();
  catalog.gate_groups = {{.name = "tlb"}, {.name = "other"}};
  catalog.events[kHits].details.gate_group = 0;
  catalog.events[kDerivedMisses].details.gate_group = 1;
  EXPECT_EQ(Text(SomeRequest(), catalog),
            Expected("events: a gate group that is pinned for the VM cannot be multiplexed, and tlb may be pinned"));
  mailbox::RotationRequest request = SomeRequest();
  request.always = {0b0010};
  EXPECT_EQ(Text(request, catalog), Expected("always: these events may leave too few counters for the others"))
      << "what is always counted may be pinned";
}

RotationFile SomeFile() {
  RotationFile file;
  file.path = "r.yaml";
  file.terms.stable_slot = absl::Microseconds(50);
  file.terms.fluctuating_slot = absl::Microseconds(20);
  file.terms.interval = absl::Milliseconds(1);
  return file;
}

absl::StatusOr<mailbox::RotationRequest> Of(const RotationFile& file,
                                            const mailbox::Catalog& catalog = RotatingCatalog()) {
  return RotationOf(file, Topology(catalog, /*hash=*/77));
}

TEST(RotationFollowerTest, AFileIsInTheDevicesTerms) {
  RotationFile file = SomeFile();
  file.weights = {{.event = {.name = "miss_cycles", .line = 4}, .per_mille = 2500}};
  const auto request = Of(file);
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->settings.stable_slot, 50'000u) << "at 1 GHz";
  EXPECT_EQ(request->settings.weights.at(kMisses), 2500u);
  EXPECT_TRUE(request->events.empty()) << "all that can";
  file.events = {{.name = "hit_cycles", .line = 5}};
  EXPECT_EQ(Of(file)->events, mailbox::EventSet{0b0010});
}

TEST(RotationFollowerTest, WhatDoesNotFitIsNamed) {
  RotationFile file = SomeFile();
  file.events = {{.name = "hit_cycels", .line = 5}};
  EXPECT_EQ(Of(file).status().message().substr(0, 29), "r.yaml:5: no event 'hit_cycel");
  file.events = {{.name = mailbox::kResidentCyclesEvent, .line = 6}};
  EXPECT_EQ(Of(file).status().message(), "r.yaml:6: 'resident_cycles' cannot be multiplexed");
  mailbox::Catalog catalog = RotatingCatalog();
  catalog.reference_clock_hz = 0;
  EXPECT_EQ(Of(SomeFile(), catalog).status().message(), "r.yaml: the device's clock is unknown");
  for (mailbox::EventInfo& event : catalog.events) event.details.counting = mailbox::Counting::kFixed;
  EXPECT_EQ(Of(SomeFile(), catalog).status().message(), "r.yaml: the device multiplexes no events");
}

}  // namespace

}  // namespace sideband::daemon
