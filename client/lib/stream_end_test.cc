// SPDX-License-Identifier: Apache-2.0
#include "client/lib/stream_end.h"

#include <gtest/gtest.h>

#include "client/lib/rpc_status.h"

namespace sideband::client {
namespace {

using Code = absl::StatusCode;

absl::Status Remote(Code code) { return MarkRemote(absl::Status(code, "host:1: gone")); }

TEST(StreamEndTest, WhatIsPassing) {
  for (int code = 1; code <= static_cast<int>(Code::kUnauthenticated); ++code) {
    const absl::Status ended = Remote(static_cast<Code>(code));
    const bool is_passing = ended.code() == Code::kUnavailable || ended.code() == Code::kCancelled ||
                            ended.code() == Code::kDeadlineExceeded || ended.code() == Code::kResourceExhausted;
    EXPECT_EQ(MayOpenAgain(ended, {.was_open = true}), is_passing) << ended;
    EXPECT_FALSE(MayOpenAgain(ended, {})) << "the first connection: " << ended;
    EXPECT_EQ(MayOpenAgain(ended, {.waits_for_first = true}), is_passing) << ended;
  }
}

TEST(StreamEndTest, AMessageThatIsTooLargeIsSoAgain) {
  const absl::Status ended = MarkRemote(absl::ResourceExhaustedError("Received message larger than max (20 vs. 10)"));
  EXPECT_FALSE(MayOpenAgain(ended, {.was_open = true}));
}

TEST(StreamEndTest, CredentialsThatAreNewAreTried) {
  EXPECT_TRUE(MayOpenAgain(Remote(Code::kUnauthenticated), {.was_open = true, .has_new_credentials = true}));
  EXPECT_FALSE(MayOpenAgain(Remote(Code::kUnauthenticated), {.has_new_credentials = true})) << "it was never open";
  EXPECT_FALSE(MayOpenAgain(Remote(Code::kPermissionDenied), {.was_open = true, .has_new_credentials = true}));
}

TEST(StreamEndTest, ADaemonThatStartsAndFilesThatAreReplacedHaveSomeTime) {
  for (const absl::Status& ended : {Remote(Code::kNotFound), absl::NotFoundError("client.pem: no such file"),
                                    absl::InvalidArgumentError("client.key: not the private key of client.pem")}) {
    EXPECT_FALSE(MayOpenAgain(ended, {.was_open = true})) << "of a connection: " << ended;
    EXPECT_TRUE(MayOpenAgain(ended, {.was_open = true, .starting_for = absl::ZeroDuration()})) << ended;
    EXPECT_FALSE(MayOpenAgain(ended, {.was_open = true, .starting_for = kStartingPatience})) << ended;
  }
  EXPECT_FALSE(MayOpenAgain(absl::NotFoundError("client.pem: no such file"),
                            {.waits_for_first = true, .starting_for = absl::ZeroDuration()}))
      << "at first it is a mistake";
}

}  // namespace
}  // namespace sideband::client
