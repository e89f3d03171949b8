// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/redact.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "daemon/model/fake_topology.h"

namespace sideband::daemon {
namespace {

TEST(RedactTest, WithoutConfidentialVmsEverythingStays) {
  const Topology topology(SomeCatalog(false), 77);
  EXPECT_EQ(Redact(topology, SomeSnapshot(), topology.has_confidential_vm()), SomeSnapshot());
}

TEST(RedactTest, ConfidentialBlocksAndWhatRevealsThemAreGone) {
  const Topology topology(SomeCatalog(true), 77);
  const mailbox::Snapshot shown = Redact(topology, SomeSnapshot(), topology.has_confidential_vm());
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
  EXPECT_EQ(Redact(topology, SomeSnapshot(), topology.has_confidential_vm()),
            Redact(topology, std::move(other), topology.has_confidential_vm()));
}

TEST(RedactTest, TheRawCountersAreWiped) {
  const Topology topology(SomeCatalog(true), 77);
  mailbox::Snapshot raw = SomeSnapshot();
  Redact(topology, std::move(raw), topology.has_confidential_vm());
  EXPECT_TRUE(std::all_of(raw.counters.begin(), raw.counters.end(), [](uint64_t c) { return c == 0; }));
}

}  // namespace
}  // namespace sideband::daemon
