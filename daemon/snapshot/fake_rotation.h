// SPDX-License-Identifier: Apache-2.0
//
// A device for tests whose events take turns on its counters: one VM with one context, two sets.
//   const auto topology = std::make_shared<Topology>(RotatingCatalog(), /*hash=*/77);
//   const DeviceSnapshot snapshot = RotatingSnapshot(topology);
#ifndef SIDEBAND_DAEMON_SNAPSHOT_FAKE_ROTATION_H_
#define SIDEBAND_DAEMON_SNAPSHOT_FAKE_ROTATION_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "daemon/snapshot/device_snapshot.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/rotation.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

// Positions in the catalogue. resident_cycles are always counted; hits have three quarters of the turns, misses the
// rest, and so have the derived ones.
inline constexpr size_t kResident = 0, kHits = 1, kMisses = 2, kDerivedMisses = 3;
inline constexpr uint16_t kRotatingVm = 1;

inline mailbox::EventInfo RotatedEvent(const char* name, mailbox::Counting counting = mailbox::Counting::kRotated) {
  return {.name = name, .unit = "cycles", .details = {.counting = counting}};
}

inline mailbox::Catalog RotatingCatalog() {
  mailbox::Catalog catalog;
  catalog.reference_clock_hz = 1'000'000'000;
  catalog.events = {{.name = mailbox::kResidentCyclesEvent, .unit = "cycles"},
                    RotatedEvent("hit_cycles"),
                    RotatedEvent("miss_cycles"),
                    RotatedEvent("late_cycles", mailbox::Counting::kDerived)};
  catalog.vms = {{.id = kRotatingVm, .uuid = *Uuid::Parse("00000000-0000-0000-0000-000000000001"), .name = "open"}};
  catalog.contexts = {{.vm = kRotatingVm, .id = 0, .name = "c"}};
  catalog.plans = {{.number = 0, .sets = {{0b0010}, {0b1100}}, .derived = {0b1000}}};
  return catalog;
}

// Of 1000 cycles; the same for all rows.
inline mailbox::BlockRotation SomeNumbers() {
  return {.parts = {{.plan = 0, .enabled = {1000}, .running = {750, 250}}},
          .events = {{.estimate = 400, .upper = 550, .deviation = 10},
                     {.estimate = 100, .upper = 800, .deviation = mailbox::kUnknownNumber},
                     {.estimate = 8, .upper = mailbox::kUnknownNumber, .deviation = 3}}};
}

inline mailbox::Snapshot RotatingData() {
  return {.boot_id = 9,
          .snapshot_id = 4,
          .catalog_hash = 77,
          .reference_time_ns = 1'000'000'000,
          .counters_per_block = 4,
          .blocks = {{.vm = 0}, {.vm = kRotatingVm}, {.vm = kRotatingVm, .context = 0}},
          .rotation = {SomeNumbers(), SomeNumbers(), SomeNumbers()},
          .counters = {1000, 300, 25, 2, 1000, 300, 25, 2, 1000, 300, 25, 2}};
}

// As the collector publishes it, but for its flags and rates.
inline DeviceSnapshot RotatingSnapshot(std::shared_ptr<const Topology> topology,
                                       mailbox::Snapshot data = RotatingData()) {
  DeviceSnapshot snapshot;
  snapshot.topology = std::move(topology);
  snapshot.data = std::move(data);
  snapshot.estimated = snapshot.topology->rotation().ShownCounters(snapshot.data);
  return snapshot;
}

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SNAPSHOT_FAKE_ROTATION_H_
