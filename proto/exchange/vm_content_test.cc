// SPDX-License-Identifier: Apache-2.0
#include "proto/exchange/vm_content.h"

#include <gtest/gtest.h>

namespace sideband::exchange {
namespace {

mailbox::Catalog Catalog() {
  mailbox::Catalog catalog;
  catalog.events = {{.name = "reads"},
                    {.name = "link_bytes", .scope = mailbox::EventScope::kDevice},
                    {.name = "hidden", .masked = true},
                    {.name = "cycles"}};
  catalog.vms = {{.id = 2, .name = "vm", .slice = 1}};
  catalog.contexts = {{.vm = 2, .id = 5, .name = "train", .slice = 3}};
  return catalog;
}

TEST(VmContentTest, HasTheRowsOfTheVmAndTheEventsOfContexts) {
  mailbox::Snapshot snapshot{.snapshot_id = 7, .trigger_id = 9, .counters_per_block = 4};
  snapshot.blocks = {{.vm = 0}, {.vm = 2, .generation = 4, .flags = 1}, {.vm = 2, .context = 5}, {.vm = 3}};
  snapshot.counters = {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23, 30, 31, 32, 33};
  EXPECT_EQ(VmEventNames(Catalog()), (std::vector<std::string>{"reads", "cycles"}));
  const envelope::SealedCounts counts = VmCounts(Catalog(), snapshot, 2);
  EXPECT_EQ(counts.snapshot_id, 7);
  EXPECT_EQ(counts.trigger_id, 9);
  ASSERT_EQ(counts.rows.size(), 2);
  EXPECT_EQ(counts.rows[0], (envelope::CountsRow{.slice = 1, .generation = 4, .state = 1, .flags = 1}));
  EXPECT_EQ(counts.rows[1], (envelope::CountsRow{.context = 5, .name = "train", .slice = 3, .state = 1}));
  EXPECT_EQ(counts.Counts(0)[1], 13);
  EXPECT_EQ(counts.Counts(1)[0], 20);
}

TEST(VmContentTest, AVmWithoutBlocksHasNoRows) {
  EXPECT_TRUE(VmCounts(Catalog(), {.counters_per_block = 4}, 2).rows.empty());
}

}  // namespace
}  // namespace sideband::exchange
