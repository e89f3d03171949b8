// SPDX-License-Identifier: Apache-2.0
#include "daemon/counting/rotation_follower.h"

#include <gtest/gtest.h>

#include "absl/time/time.h"
#include "daemon/snapshot/fake_topology.h"

namespace sideband::daemon {
namespace {

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
