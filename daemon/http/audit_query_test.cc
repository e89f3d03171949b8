// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/audit_query.h"

#include <gtest/gtest.h>

namespace sideband::daemon {
namespace {

TEST(AuditQueryTest, AfterIsASequence) {
  EXPECT_EQ(*ParseAuditQuery("/audit"), 0u);
  EXPECT_EQ(*ParseAuditQuery("/audit?after=0"), 0u);
  EXPECT_EQ(*ParseAuditQuery("/audit?after=18446744073709551615"), 18446744073709551615u);
}

TEST(AuditQueryTest, AnythingElseIsRefused) {
  for (const char* target :
       {"/audit?after=", "/audit?after", "/audit?after=-1", "/audit?after=+1", "/audit?after=1x",
        "/audit?after=18446744073709551616", "/audit?before=1", "/audit?after=1&after=2", "/audit?after=%zz"}) {
    EXPECT_EQ(ParseAuditQuery(target).status().code(), absl::StatusCode::kInvalidArgument) << target;
  }
}

}  // namespace
}  // namespace sideband::daemon
