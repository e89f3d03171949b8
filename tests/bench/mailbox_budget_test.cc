// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/mailbox_budget.h"

#include <gtest/gtest.h>

namespace sideband::bench {
namespace {

TEST(MailboxBudgetTest, IsKept) {
  const auto budget = MeasureMailboxBudget("tests/bench/mailbox_budget.yaml");
  ASSERT_TRUE(budget.ok()) << budget.status();
  EXPECT_LE(budget->first, 400'000u) << "4 s at 100 kHz";
  EXPECT_GE(budget->plain, 15 * budget->steady);
  EXPECT_LE(budget->steady, 1.3 * static_cast<double>(budget->zstd));
  EXPECT_GT(budget->changed_counters, 17u * 40) << "8 contexts, their VMs and the device have counted";
}

}  // namespace
}  // namespace sideband::bench
