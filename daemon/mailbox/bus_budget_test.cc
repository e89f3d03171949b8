// SPDX-License-Identifier: Apache-2.0
#include "daemon/mailbox/bus_budget.h"

#include <gtest/gtest.h>

namespace sideband::daemon {
namespace {

// One VM with two contexts, and ten events.
mailbox::Catalog CatalogOfTenEvents(bool confidential, bool is_private = false) {
  mailbox::Catalog catalog;
  for (int i = 0; i < 10; ++i) catalog.events.push_back({.name = "event_" + std::to_string(i)});
  catalog.vms = {{.id = 1, .name = "vm1", .confidential = confidential, .is_private = is_private}};
  catalog.contexts = {{.vm = 1, .id = 0, .name = "a"}, {.vm = 1, .id = 1, .name = "b"}};
  return catalog;
}

TEST(BusBudgetTest, LeastIsLatchAndOneWindow) {
  const BusBudget budget = BudgetOf(Topology(CatalogOfTenEvents(false), 1), 100'000, 255);
  // The stream has 53 bytes; the registers take 2 writes and 3 reads.
  EXPECT_EQ(budget.least, absl::Microseconds(10) * (9 * (2 * 8 + 3 * 9 + 53 + 5) + 2 * 2 + 3 * 3 + 3));
  EXPECT_GT(budget.most, 2 * budget.least);
}

TEST(BusBudgetTest, ConfidentialBlocksAlwaysTravel) {
  const BusBudget open = BudgetOf(Topology(CatalogOfTenEvents(false), 1), 100'000, 255);
  const BusBudget confidential = BudgetOf(Topology(CatalogOfTenEvents(true), 1), 100'000, 255);
  EXPECT_GT(confidential.least, open.least + absl::Milliseconds(30)) << "four blocks of 98 bytes";
  EXPECT_EQ(confidential.most, open.most);
  const BusBudget is_private = BudgetOf(Topology(CatalogOfTenEvents(true, true), 1), 100'000, 255);
  EXPECT_LT(is_private.least, confidential.least) << "without the device's block";
  EXPECT_GT(is_private.least, open.least + absl::Milliseconds(20));
}

TEST(BusBudgetTest, HostBlocksAreBlocksLikeOthers) {
  mailbox::Catalog catalog = CatalogOfTenEvents(true);
  const BusBudget before = BudgetOf(Topology(catalog, 1), 100'000, 255);
  catalog.slices = {{0, "slice0"}};
  catalog.host_blocks = {{.slice = 0, .generation = 1}};
  const BusBudget budget = BudgetOf(Topology(catalog, 1), 100'000, 255);
  EXPECT_GT(budget.most, before.most);
  EXPECT_LT(budget.least, before.least + absl::Milliseconds(1)) << "it is not always written whole";
}

TEST(BusBudgetTest, AFasterBusTakesLessAndNarrowWindowsTakeMore) {
  const Topology topology(CatalogOfTenEvents(false), 1);
  EXPECT_EQ(BudgetOf(topology, 400'000, 255).most, BudgetOf(topology, 100'000, 255).most / 4);
  EXPECT_GT(BudgetOf(topology, 100'000, 32).most, BudgetOf(topology, 100'000, 255).most);
}

}  // namespace
}  // namespace sideband::daemon
