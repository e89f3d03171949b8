// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/poll_audit.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

TEST(PollAuditTest, OnceAMinuteForEachIdentity) {
  PollAudit audit;
  EXPECT_TRUE(audit.IsDue("a", absl::Seconds(0)));
  EXPECT_FALSE(audit.IsDue("a", absl::Seconds(59)));
  EXPECT_TRUE(audit.IsDue("b", absl::Seconds(59)));
  EXPECT_TRUE(audit.IsDue("a", absl::Seconds(60)));
  EXPECT_FALSE(audit.IsDue("a", absl::Seconds(61)));
}

TEST(PollAuditTest, AuditsMoreRatherThanLess) {
  PollAudit audit;
  for (size_t i = 0; i <= PollAudit::kIdentitiesMax; ++i) EXPECT_TRUE(audit.IsDue(absl::StrCat(i), absl::Seconds(1)));
  EXPECT_TRUE(audit.IsDue("0", absl::Seconds(1))) << "forgotten";
}

}  // namespace
}  // namespace sideband::daemon
