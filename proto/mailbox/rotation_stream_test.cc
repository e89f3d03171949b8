// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/rotation_stream.h"

#include <gtest/gtest.h>

#include <string>

#include "proto/mailbox/stream.h"

namespace sideband::mailbox {
namespace {

constexpr size_t kEvents = 70;

RotationSettings Settings() {
  RotationSettings settings{.profile = RotationProfile::kTwoSet, .step = 9, .sets_per_pass = 3, .adapt = false};
  settings.weights = {{1, 500}, {69, 2000}};
  return settings;
}

RotationRequest Request() {
  return {.vm = 7, .contexts = {0, 3}, .settings = Settings(), .events = {6, 1}, .always = {2}};
}

RotationPlan Plan() {
  return {.number = 4, .of_device = true, .sets = {{1, 0}, {6, 32}}, .derived = {2}, .settings = Settings()};
}

TEST(RotationStreamTest, RequestsComeBack) {
  EXPECT_EQ(*DecodeRotationRequest(EncodeRotationRequest(Request()), kEvents), Request());
  EXPECT_EQ(*DecodeRotationRequest(EncodeRotationRequest({}), 0), RotationRequest{});
}

TEST(RotationStreamTest, PlansComeBack) {
  const Bytes stream = EncodePlanStream(42, 0xFFFF0001, Plan());
  EXPECT_EQ(DecodePlanStream(stream, 1, kEvents).status(), absl::AbortedError("rotation: the plan of another scope"));
  EXPECT_EQ(*DecodePlanStream(stream, 0xFFFF0001, kEvents), Plan());
  EXPECT_EQ(DecodeStream(stream)->header,
            (StreamHeader{.kind = StreamKind::kPlan, .boot_id = 42, .snapshot_id = 0xFFFF0001}));
}

// The example of README.md.
TEST(RotationStreamTest, WorkedExample) {
  const Bytes expected = {0x01, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x40, 0x0D, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00,
                          0xA0, 0x86, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x65, 0xCD, 0x1D, 0x00, 0x00, 0x00,
                          0x00, 0x32, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00,
                          0x00, 0x01, 0x00, 0x06, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};
  EXPECT_EQ(EncodeRotationRequest({.vm = 1, .contexts = {0}, .settings = {}, .events = {6}, .always = {}}), expected);
}

TEST(RotationStreamTest, EveryShorterAndLongerInputIsRefused) {
  Bytes bytes = EncodeRotationRequest(Request());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodeRotationRequest(ByteSpan(bytes).first(size), kEvents).ok()) << size;
  }
  bytes.push_back(0);
  EXPECT_EQ(DecodeRotationRequest(bytes, kEvents).status().message(), "rotation: bytes after the end");
}

TEST(RotationStreamTest, WhatCannotBeIsRefused) {
  const auto refusal = [](const RotationRequest& request) {
    return std::string(DecodeRotationRequest(EncodeRotationRequest(request), kEvents).status().message());
  };
  RotationRequest request = Request();
  request.contexts = {3, 3};
  EXPECT_EQ(refusal(request), "rotation: contexts do not ascend");
  request = Request();
  request.contexts = {0xFFFF};
  EXPECT_EQ(refusal(request), "rotation: a context has no number");
  request = Request();
  request.events = {0, 64};
  EXPECT_EQ(refusal(request), "rotation: an event does not exist") << "70";
  request = Request();
  request.events = {0, 0, 0};
  EXPECT_EQ(refusal(request), "rotation: a set of too many events");
  request = Request();
  request.settings.weights[70] = 1;
  EXPECT_EQ(refusal(request), "rotation: an event does not exist");
  request = Request();
  request.settings.profile = static_cast<RotationProfile>(2);
  EXPECT_EQ(refusal(request), "rotation: an unknown profile");
}

TEST(RotationStreamTest, PlansWithoutSetsAndOtherStreamsAreRefused) {
  RotationPlan plan = Plan();
  plan.sets.clear();
  EXPECT_EQ(DecodePlanStream(EncodePlanStream(1, 0, plan), 0, kEvents).status().message(),
            "rotation: no counter sets, or too many");
  EXPECT_EQ(DecodePlanStream(EncodeStream({.kind = StreamKind::kConfig}, {}), 0, kEvents).status().message(),
            "rotation: wrong kind of stream");
  EXPECT_EQ(DecodePlanStream({}, 0, kEvents).status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace sideband::mailbox
