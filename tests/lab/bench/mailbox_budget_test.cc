// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/bench/mailbox_budget.h"

#include <gtest/gtest.h>

namespace sideband::bench {
namespace {

using mailbox::ExtensionVersion;

class MailboxBudgetTest : public testing::TestWithParam<ExtensionVersion> {
 protected:
  static MailboxBudget Measure(ExtensionVersion version, Scenario scenario) {
    const auto budget = MeasureMailboxBudget("tests/lab/bench/mailbox_budget.yaml", version, scenario);
    EXPECT_TRUE(budget.ok()) << budget.status();
    return budget.value_or(MailboxBudget());
  }
};

TEST_P(MailboxBudgetTest, IsKept) {
  const MailboxBudget budget = Measure(GetParam(), Scenario::kOneInEight);
  EXPECT_LE(budget.first, 400'000u) << "4 s at 100 kHz";
  EXPECT_GE(budget.plain, 15 * budget.steady);
  EXPECT_LE(budget.version_2, 1.01 * budget.version_1) << "the same events";
  EXPECT_LE(static_cast<double>(budget.steady), 1.3 * static_cast<double>(budget.zstd));
  EXPECT_GT(budget.changed_counters, 17u * 40) << "8 contexts, their VMs and the device have counted";
}

INSTANTIATE_TEST_SUITE_P(Versions, MailboxBudgetTest, testing::Values(ExtensionVersion::kOne, ExtensionVersion::kTwo));

TEST_F(MailboxBudgetTest, VersionTwoIsCloseToTheInformation) {
  for (const Scenario scenario : {Scenario::kOneInEight, Scenario::kSteady}) {
    const MailboxBudget budget = Measure(ExtensionVersion::kTwo, scenario);
    EXPECT_LE(static_cast<double>(budget.steady), 1.1 * static_cast<double>(budget.bound));
    EXPECT_GT(budget.bound, 0u);
  }
}

TEST_F(MailboxBudgetTest, CountersThatGoOnAsBeforeCostLittle) {
  const MailboxBudget budget = Measure(ExtensionVersion::kTwo, Scenario::kSteady);
  EXPECT_LE(3 * budget.version_2, budget.version_1);
  EXPECT_GT(budget.changed_counters, 64u * 65) << "all contexts have counted";
}

TEST(PeekBudgetTest, IsKept) {
  const auto budget = MeasurePeekBudget("tests/lab/bench/mailbox_budget.yaml");
  ASSERT_TRUE(budget.ok()) << budget.status();
  EXPECT_LE(budget->one, 1'500u);
  EXPECT_LE(budget->all, 6'100u);
  EXPECT_GE(budget->snapshot, 14 * budget->one);
  EXPECT_GE(budget->plain, 3 * budget->all);
  EXPECT_TRUE(budget->is_as_computed);
}

TEST(CommitBudgetTest, IsKept) {
  const auto budget = MeasureCommitBudget("tests/lab/bench/mailbox_budget.yaml");
  ASSERT_TRUE(budget.ok()) << budget.status();
  EXPECT_GE(budget->words, 4u);
  EXPECT_GT(budget->change, budget->latch);
  EXPECT_LE(budget->commands(), 20);
}

}  // namespace
}  // namespace sideband::bench
