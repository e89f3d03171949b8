// SPDX-License-Identifier: Apache-2.0
#include "daemon/clocks/withheld_clocks.h"

#include <gtest/gtest.h>

#include <optional>

#include "daemon/snapshot/topology.h"

namespace sideband::daemon {
namespace {

mailbox::ClockDomain Of(std::optional<uint8_t> slice) { return {.name = "sm", .slice = slice}; }

// Two slices; VM 2 may be confidential, with a context on slice 1.
Topology Some(bool confidential, uint8_t home = 1) {
  mailbox::Catalog catalog;
  catalog.slices = {{0, "slice0"}, {1, "slice1"}};
  catalog.vms = {{.id = 1, .slice = 0}, {.id = 2, .confidential = confidential, .slice = home}};
  catalog.contexts = {{.vm = 2, .slice = 1}};
  catalog.has_had_confidential_vm = confidential;
  return Topology(catalog, 7);
}

TEST(WithheldClocksTest, WithoutConfidentialVmsNoneAre) {
  WithheldClocks withheld;
  withheld.Follow(Some(false), 1);
  EXPECT_FALSE(withheld.Has(Of(0)));
  EXPECT_FALSE(withheld.Has(Of(std::nullopt)));
}

TEST(WithheldClocksTest, ThoseOfItsSlicesAndSharedOnesAreUntilTheDeviceRestarts) {
  WithheldClocks withheld;
  withheld.Follow(Some(false), 1);
  withheld.Follow(Some(true), 1);
  EXPECT_FALSE(withheld.Has(Of(0)));
  EXPECT_TRUE(withheld.Has(Of(1)));
  EXPECT_TRUE(withheld.Has(Of(std::nullopt)));
  withheld.Follow(Some(false), 1);
  EXPECT_TRUE(withheld.Has(Of(1))) << "it has ended";
  withheld.Follow(Some(false), 2);
  EXPECT_FALSE(withheld.Has(Of(1)));
}

TEST(WithheldClocksTest, AllAreWhereItsSlicesAreNotKnown) {
  WithheldClocks anywhere;
  anywhere.Follow(Some(true, mailbox::kAnySlice), 1);
  EXPECT_TRUE(anywhere.Has(Of(0)));
  mailbox::Catalog ended;
  ended.has_had_confidential_vm = true;
  WithheldClocks before;
  before.Follow(Topology(ended, 7), 1);
  EXPECT_TRUE(before.Has(Of(0)));
  WithheldClocks late;
  late.Follow(Some(true), 1);
  EXPECT_TRUE(late.Has(Of(0))) << "others may have ended";
}

}  // namespace
}  // namespace sideband::daemon
