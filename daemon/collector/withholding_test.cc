// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/withholding.h"

#include <gtest/gtest.h>

#include "daemon/collector/redact.h"
#include "daemon/model/fake_topology.h"

namespace sideband::daemon {
namespace {

mailbox::Snapshot OfBoot(uint64_t boot_id) { return {.boot_id = boot_id}; }

TEST(WithholdingTest, LastsFromAConfidentialVmToTheRestart) {
  const Topology open(SomeCatalog(/*with_secret=*/false), 1), secret(SomeCatalog(/*with_secret=*/true), 2);
  Withholding withholding;
  EXPECT_FALSE(withholding.Applies(open, OfBoot(1)));
  EXPECT_TRUE(withholding.Applies(secret, OfBoot(1)));
  EXPECT_TRUE(withholding.Applies(open, OfBoot(1))) << "its counts are in the device's block for good";
  EXPECT_FALSE(withholding.Applies(open, OfBoot(2)));
  EXPECT_TRUE(withholding.Applies(secret, OfBoot(2)));
}

// The device's row before, while and after a confidential VM is there: no difference of any two has its counts.
TEST(WithholdingTest, WhatIsPublishedAfterwardsHasNothingOfTheVm) {
  mailbox::Catalog catalog = SomeCatalog(/*with_secret=*/true);
  catalog.vms.pop_back();
  catalog.contexts.pop_back();
  const Topology afterwards(catalog, 3);
  mailbox::Snapshot raw = SomeSnapshot();
  raw.blocks.resize(3);
  raw.counters.resize(6);  // the device's 1111 still has the secret 1100
  const mailbox::Snapshot shown = Redact(afterwards, std::move(raw), /*withheld=*/true);
  EXPECT_EQ(shown.counters, (std::vector<uint64_t>{11, 0, 11, 0, 10, 0}));
}

}  // namespace
}  // namespace sideband::daemon
