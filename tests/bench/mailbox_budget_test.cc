// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/mailbox_budget.h"

#include <gtest/gtest.h>

namespace sideband::bench {
namespace {

class MailboxBudgetTest : public testing::TestWithParam<mailbox::ExtensionVersion> {};

TEST_P(MailboxBudgetTest, IsKept) {
  const bool is_first_version = GetParam() == mailbox::ExtensionVersion::kOne;
  const auto budget = MeasureMailboxBudget("tests/bench/mailbox_budget.yaml", GetParam());
  ASSERT_TRUE(budget.ok()) << budget.status();
  EXPECT_LE(budget->first, 400'000u) << "4 s at 100 kHz";
  // Version 2 also transfers the resident cycles, an event without which there is no utilisation.
  EXPECT_GE(static_cast<double>(budget->plain), (is_first_version ? 15.0 : 14.9) * budget->steady);
  EXPECT_LE(budget->version_2, 1.01 * budget->version_1) << "the same events";
  EXPECT_LE(budget->steady, 1.3 * static_cast<double>(budget->zstd));
  EXPECT_GT(budget->changed_counters, 17u * 40) << "8 contexts, their VMs and the device have counted";
}

INSTANTIATE_TEST_SUITE_P(Versions, MailboxBudgetTest,
                         testing::Values(mailbox::ExtensionVersion::kOne, mailbox::ExtensionVersion::kTwo));

}  // namespace
}  // namespace sideband::bench
