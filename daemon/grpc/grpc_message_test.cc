// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/grpc_message.h"

#include <grpcpp/support/slice.h>
#include <gtest/gtest.h>

#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {
namespace {

using sideband::v1::ListEventsRequest;

TEST(MessageBytesTest, BytesAreTheMessageAgain) {
  ListEventsRequest message, read;
  message.set_device("gpu0");
  const auto bytes = Serialized(message);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(bytes->Length(), message.ByteSizeLong());
  ASSERT_TRUE(FromBytes(*bytes, read));
  EXPECT_EQ(read.device(), "gpu0");
  EXPECT_EQ(Serialized(ListEventsRequest())->Length(), 0u) << "nothing is a message, too";
}

TEST(MessageBytesTest, WhatIsTooLongIsAnErrorAndNotEmpty) {
  ListEventsRequest message;
  message.set_device("gpu0");
  EXPECT_TRUE(Serialized(message, message.ByteSizeLong()).ok());
  const auto bytes = Serialized(message, message.ByteSizeLong() - 1);
  EXPECT_EQ(bytes.status(), absl::InternalError("the answer cannot be serialised"));
}

TEST(MessageBytesTest, OtherBytesAreNoMessage) {
  const grpc::Slice slice("\xff");
  ListEventsRequest message;
  EXPECT_FALSE(FromBytes(grpc::ByteBuffer(&slice, 1), message));
}

}  // namespace

}  // namespace sideband::daemon
