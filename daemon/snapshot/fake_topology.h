// SPDX-License-Identifier: Apache-2.0
//
// Devices for tests: one with an open VM and a VM that may be confidential, and one with a VM whose events are
// multiplexed on its counters; each with a snapshot.
//   const Topology topology(SomeCatalog(/*with_secret=*/true), /*hash=*/77);
//   CheckAgainst(topology, SomeSnapshot());
//   const auto rotating = std::make_shared<Topology>(RotatingCatalog(), /*hash=*/77);
//   const DeviceSnapshot snapshot = RotatingSnapshot(rotating);
#ifndef SIDEBAND_DAEMON_SNAPSHOT_FAKE_TOPOLOGY_H_
#define SIDEBAND_DAEMON_SNAPSHOT_FAKE_TOPOLOGY_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "daemon/snapshot/device_snapshot.h"
#include "proto/base/uuid.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/rotation.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

inline constexpr uint16_t kOpenVm = 1, kSecretVm = 2;
inline const Uuid kSecretVmUuid = *Uuid::Parse("00000000-0000-0000-0000-000000000002");

inline mailbox::Catalog SomeCatalog(bool with_secret) {
  mailbox::Catalog catalog;
  catalog.events = {{.name = "busy_cycles"}, {.name = "pcie_tx_cycles", .scope = mailbox::EventScope::kDevice}};
  catalog.vms = {{.id = kOpenVm, .uuid = *Uuid::Parse("00000000-0000-0000-0000-000000000001"), .name = "open"},
                 {.id = kSecretVm, .uuid = kSecretVmUuid, .name = "secret", .confidential = with_secret}};
  catalog.contexts = {{.vm = kOpenVm, .id = 0, .name = "c"}, {.vm = kSecretVm, .id = 0, .name = "c"}};
  return catalog;
}

// The secret VM is confidential, and private as all before it: the device's block has none of their counts.
inline mailbox::Catalog CatalogWithPrivateVm() {
  mailbox::Catalog catalog = SomeCatalog(/*with_secret=*/true);
  catalog.vms[1].is_private = true;
  catalog.has_had_confidential_vm = catalog.confidential_vms_were_private = true;
  return catalog;
}

// The device, the open VM with its context, the secret VM with its context.
inline mailbox::Snapshot SomeSnapshot() {
  return {.boot_id = 9,
          .snapshot_id = 4,
          .catalog_hash = 77,
          .trigger_id = 5,
          .reference_time_ns = 6,
          .counters_per_block = 2,
          .blocks = {{.vm = 0, .flags = mailbox::kFlagOverflow},
                     {.vm = kOpenVm},
                     {.vm = kOpenVm, .context = 0},
                     {.vm = kSecretVm, .flags = mailbox::kFlagOverflow},
                     {.vm = kSecretVm, .context = 0}},
          .counters = {1111, 999, 11, 0, 10, 0, 1100, 0, 1000, 0}};
}

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

// The numbers of 1000 cycles; the same for all rows.
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

// The snapshot that the collector publishes, but for its flags and rates.
inline DeviceSnapshot RotatingSnapshot(std::shared_ptr<const Topology> topology,
                                       mailbox::Snapshot data = RotatingData()) {
  DeviceSnapshot snapshot;
  snapshot.topology = std::move(topology);
  snapshot.data = std::move(data);
  snapshot.estimated = snapshot.topology->rotation().ShownCounters(snapshot.data);
  return snapshot;
}

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SNAPSHOT_FAKE_TOPOLOGY_H_
