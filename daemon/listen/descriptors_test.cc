// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/descriptors.h"

#include <gtest/gtest.h>

namespace sideband::daemon {
namespace {

size_t FilesOf(const ConnectionBudget& budget) {
  return budget.http + budget.http_handshakes + 3 * budget.grpc + budget.grpc_handshakes;
}

TEST(BudgetConnectionsTest, ALargeLimitGivesTheDefaults) {
  const ConnectionBudget budget = BudgetConnections(65536, 8);
  EXPECT_EQ(budget.http, 512u);
  EXPECT_EQ(budget.http_handshakes, 128u);
  EXPECT_EQ(budget.grpc, 512u);
  EXPECT_EQ(budget.grpc_handshakes, 128u);
  EXPECT_EQ(budget.per_identity, 64u);
}

TEST(BudgetConnectionsTest, ASmallLimitIsNeverExceeded) {
  for (size_t files = 64; files < 4096; ++files) {
    EXPECT_LE(FilesOf(BudgetConnections(files, 1)) + 30, files) << files;
    EXPECT_LE(BudgetConnections(files, 1).per_identity * 2, BudgetConnections(files, 1).http) << files;
  }
}

TEST(BudgetConnectionsTest, ATinyLimitLeavesAFew) {
  EXPECT_EQ(BudgetConnections(0, 256).http, 4u);
  EXPECT_EQ(BudgetConnections(0, 256).per_identity, 2u);
}

}  // namespace
}  // namespace sideband::daemon
