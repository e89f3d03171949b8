// SPDX-License-Identifier: Apache-2.0
//
// A device for tests, with an open VM and a VM that may be confidential, and a snapshot of it.
//   const Topology topology(SomeCatalog(/*with_secret=*/true), /*hash=*/77);
//   CheckAgainst(topology, SomeSnapshot());
#ifndef SIDEBAND_DAEMON_SNAPSHOT_FAKE_TOPOLOGY_H_
#define SIDEBAND_DAEMON_SNAPSHOT_FAKE_TOPOLOGY_H_

#include <cstdint>

#include "proto/base/uuid.h"
#include "proto/mailbox/catalog.h"
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

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SNAPSHOT_FAKE_TOPOLOGY_H_
