// SPDX-License-Identifier: Apache-2.0
#include "daemon/mailbox/check_against.h"

#include <gtest/gtest.h>

namespace sideband::daemon {
namespace {

constexpr uint16_t kOpenVm = 1, kSecretVm = 2;

mailbox::Catalog SomeCatalog(bool with_secret) {
  mailbox::Catalog catalog;
  catalog.events = {{.name = "busy_cycles"}, {.name = "pcie_tx_cycles", .scope = mailbox::EventScope::kDevice}};
  catalog.vms = {{.id = kOpenVm, .uuid = *Uuid::Parse("00000000-0000-0000-0000-000000000001"), .name = "open"},
                 {.id = kSecretVm,
                  .uuid = *Uuid::Parse("00000000-0000-0000-0000-000000000002"),
                  .name = "secret",
                  .confidential = with_secret}};
  catalog.contexts = {{.vm = kOpenVm, .id = 0, .name = "c"}, {.vm = kSecretVm, .id = 0, .name = "c"}};
  return catalog;
}

// The device, the open VM with its context, the secret VM with its context.
mailbox::Snapshot SomeSnapshot() {
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

TEST(CheckAgainstTest, AcceptsItsOwnTopologyOnly) {
  const Topology topology(SomeCatalog(true), 77);
  EXPECT_TRUE(CheckAgainst(topology, SomeSnapshot()).ok());
  const struct {
    const char* why;
    void (*spoil)(mailbox::Snapshot&);
  } kCases[] = {
      {"another catalogue", [](mailbox::Snapshot& s) { s.catalog_hash = 78; }},
      {"another number of counters", [](mailbox::Snapshot& s) { s.counters_per_block = 1; }},
      {"no block", [](mailbox::Snapshot& s) { s.blocks.clear(); }},
      {"the device is not first", [](mailbox::Snapshot& s) { std::swap(s.blocks[0], s.blocks[1]); }},
      {"unknown VM", [](mailbox::Snapshot& s) { s.blocks[3].vm = 9; }},
      {"unknown context", [](mailbox::Snapshot& s) { s.blocks[4].context = 9; }},
      {"a context of the hypervisor", [](mailbox::Snapshot& s) { s.blocks[4].vm = 0; }},
  };
  for (const auto& test : kCases) {
    mailbox::Snapshot snapshot = SomeSnapshot();
    test.spoil(snapshot);
    EXPECT_EQ(CheckAgainst(topology, snapshot).code(), absl::StatusCode::kInvalidArgument) << test.why;
  }
}

}  // namespace
}  // namespace sideband::daemon
