// SPDX-License-Identifier: Apache-2.0
#include "daemon/base/retry_after.h"

#include <gtest/gtest.h>

namespace sideband::daemon {
namespace {

TEST(RetryAfterTest, IsToldInMessageAndStatus) {
  const absl::Status status = WithRetryAfter(absl::ResourceExhaustedError("used up"), absl::Microseconds(119'001));
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "used up; retry in 120ms");
  EXPECT_EQ(RetryAfter(status), absl::Milliseconds(120));
}

TEST(RetryAfterTest, OtherStatusesHaveNone) {
  EXPECT_EQ(RetryAfter(absl::OkStatus()), std::nullopt);
  EXPECT_EQ(RetryAfter(absl::ResourceExhaustedError("used up; retry in 120ms")), std::nullopt);
}

}  // namespace
}  // namespace sideband::daemon
