// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/redact.h"

#include <gtest/gtest.h>

#include <algorithm>

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

TEST(RedactTest, WithoutConfidentialVmsEverythingStays) {
  const Topology topology(SomeCatalog(false), 77);
  EXPECT_EQ(Redact(topology, SomeSnapshot()), SomeSnapshot());
}

TEST(RedactTest, ConfidentialBlocksAndWhatRevealsThemAreGone) {
  const Topology topology(SomeCatalog(true), 77);
  const mailbox::Snapshot shown = Redact(topology, SomeSnapshot());
  ASSERT_EQ(shown.blocks.size(), 3u);
  EXPECT_EQ(shown.counters, (std::vector<uint64_t>{11, 0, 11, 0, 10, 0})) << "the device is the sum of what is shown";
  EXPECT_EQ(shown.blocks[0].flags, 0) << "nor does a flag tell of the other";
  EXPECT_EQ(shown.trigger_id, 5u);
  EXPECT_EQ(shown.boot_id, 9u);
}

// No sum or difference of published numbers may give a confidential one.
TEST(RedactTest, WhatIsPublishedDoesNotDependOnWhatIsConfidential) {
  const Topology topology(SomeCatalog(true), 77);
  mailbox::Snapshot other = SomeSnapshot();
  other.counters = {7011, 123, 11, 0, 10, 0, 7000, 0, 7000, 0};
  EXPECT_EQ(Redact(topology, SomeSnapshot()), Redact(topology, std::move(other)));
}

TEST(RedactTest, TheRawCountersAreWiped) {
  const Topology topology(SomeCatalog(true), 77);
  mailbox::Snapshot raw = SomeSnapshot();
  Redact(topology, std::move(raw));
  EXPECT_TRUE(std::all_of(raw.counters.begin(), raw.counters.end(), [](uint64_t c) { return c == 0; }));
}

}  // namespace
}  // namespace sideband::daemon
