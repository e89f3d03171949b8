// SPDX-License-Identifier: Apache-2.0
#include "daemon/stream/stream_content.h"

#include <gtest/gtest.h>

#include <string>

#include "daemon/stream/resume_token.h"

namespace sideband::daemon {
namespace {

using sideband::v1::SubscribeRequest;

SubscribeRequest Stream(SubscribeRequest::StreamMode mode = SubscribeRequest::STREAM_MODE_UNSPECIFIED) {
  SubscribeRequest request;
  request.set_mode(SubscribeRequest::MODE_STREAM);
  request.set_stream_mode(mode);
  return request;
}

std::string Error(const SubscribeRequest& request) {
  const absl::Status status = StreamRequest::Parse(request).status();
  EXPECT_TRUE(status.ok() || absl::IsInvalidArgument(status));
  return std::string(status.message());
}

TEST(StreamRequestTest, ModesAreNeeded) {
  EXPECT_EQ(Error({}), "mode: must be MODE_ONCE or MODE_STREAM");
  EXPECT_EQ(Error(Stream(static_cast<SubscribeRequest::StreamMode>(7))),
            "stream_mode: must be STREAM_MODE_SAMPLE or STREAM_MODE_ON_CHANGE");
  for (const auto mode : {SubscribeRequest::STREAM_MODE_UNSPECIFIED, SubscribeRequest::STREAM_MODE_SAMPLE,
                          SubscribeRequest::STREAM_MODE_ON_CHANGE}) {
    EXPECT_EQ(Error(Stream(mode)), "");
  }
}

TEST(StreamRequestTest, IntervalsHaveBounds) {
  SubscribeRequest request = Stream();
  const auto sample = [&](int64_t seconds, int32_t nanos) {
    request.mutable_sample_interval()->set_seconds(seconds);
    request.mutable_sample_interval()->set_nanos(nanos);
    return Error(request);
  };
  const std::string bad_sample = "sample_interval: must be from 10ms to 24h";
  EXPECT_EQ(sample(0, 9'999'999), bad_sample);
  EXPECT_EQ(sample(0, 10'000'000), "");
  EXPECT_EQ(sample(86'400, 0), "");
  EXPECT_EQ(sample(86'400, 1), bad_sample);
  EXPECT_EQ(sample(-1, 0), bad_sample);
  EXPECT_EQ(sample(1, -1), bad_sample);
  EXPECT_EQ(sample(INT64_MAX, INT32_MAX), bad_sample);
  request = Stream();
  const auto heartbeat = [&](int64_t seconds, int32_t nanos) {
    request.mutable_heartbeat_interval()->set_seconds(seconds);
    request.mutable_heartbeat_interval()->set_nanos(nanos);
    return Error(request);
  };
  const std::string bad_heartbeat = "heartbeat_interval: must be from 1s to 24h";
  EXPECT_EQ(heartbeat(0, 999'999'999), bad_heartbeat);
  EXPECT_EQ(heartbeat(1, 0), "");
  EXPECT_EQ(heartbeat(86'400, 0), "");
  EXPECT_EQ(heartbeat(86'401, 0), bad_heartbeat);
  EXPECT_EQ(heartbeat(INT64_MIN, 0), bad_heartbeat);
}

TEST(StreamRequestTest, WhatIsOfSamplesIsRefusedOnChange) {
  const auto on_change = SubscribeRequest::STREAM_MODE_ON_CHANGE;
  SubscribeRequest request = Stream(on_change);
  request.mutable_sample_interval()->set_seconds(1);
  EXPECT_EQ(Error(request), "sample_interval: requires STREAM_MODE_SAMPLE");
  request = Stream(on_change);
  request.set_sensors(true);
  EXPECT_EQ(Error(request), "sensors: requires STREAM_MODE_SAMPLE");
  request = Stream(on_change);
  request.set_suppress_redundant(true);
  EXPECT_EQ(Error(request), "suppress_redundant: requires STREAM_MODE_SAMPLE");
}

TEST(StreamRequestTest, SensorsHaveNoRows) {
  SubscribeRequest request = Stream();
  request.set_sensors(true);
  request.mutable_filter()->set_device("gpu0");
  EXPECT_EQ(Error(request), "");
  request.mutable_filter()->add_events("cycles");
  EXPECT_EQ(Error(request), "sensors: the filter names a VM, context or event, which boards do not have");
}

TEST(StreamRequestTest, HugeFiltersAndTokensAreRefused) {
  SubscribeRequest request = Stream();
  request.mutable_filter()->set_vm(std::string(256, 'v'));
  EXPECT_EQ(Error(request), "");
  request.mutable_filter()->set_vm(std::string(257, 'v'));
  EXPECT_EQ(Error(request), "filter.vm: a name has at most 256 bytes");
  request = Stream();
  for (int i = 0; i < StreamRequest::kEventsMax; ++i) request.mutable_filter()->add_events("e");
  EXPECT_EQ(Error(request), "");
  request.mutable_filter()->add_events("e");
  EXPECT_EQ(Error(request), "filter.events: at most 4096");
  request = Stream();
  request.set_resume_token(std::string(kResumeTokenBytesMax, 't'));
  EXPECT_EQ(Error(request), "");
  request.set_resume_token(std::string(kResumeTokenBytesMax + 1, 't'));
  EXPECT_EQ(Error(request), "resume_token: at most 32768 bytes");
}

TEST(HeartbeatTest, IsDueShortlyBeforeTheIntervalEnds) {
  Heartbeat heartbeat(absl::Seconds(30));
  EXPECT_FALSE(heartbeat.IsDue(absl::Hours(1))) << "the first state was not sent yet";
  heartbeat.Sent(absl::Hours(1));
  EXPECT_FALSE(heartbeat.IsDue(absl::Hours(1) + absl::Milliseconds(29'499)));
  EXPECT_TRUE(heartbeat.IsDue(absl::Hours(1) + absl::Milliseconds(29'500)));
  heartbeat.Sent(absl::Hours(1) + absl::Seconds(31));
  EXPECT_FALSE(heartbeat.IsDue(absl::Hours(1) + absl::Seconds(60)));
  EXPECT_EQ(heartbeat.patience(), absl::Seconds(60));
}

// Wake-ups a second apart, and late by some milliseconds, must not double the shortest interval.
TEST(HeartbeatTest, EveryWakeUpOfASecondHasTheShortest) {
  Heartbeat heartbeat(absl::Seconds(1));
  heartbeat.Sent(absl::Milliseconds(1'005));
  EXPECT_TRUE(heartbeat.IsDue(absl::Milliseconds(2'001)));
  EXPECT_FALSE(heartbeat.IsDue(absl::Milliseconds(1'504)));
}

TEST(HeartbeatTest, WithoutAnIntervalThereAreNone) {
  Heartbeat heartbeat(absl::ZeroDuration());
  heartbeat.Sent(absl::ZeroDuration());
  EXPECT_FALSE(heartbeat.IsDue(absl::Hours(1'000'000)));
  EXPECT_EQ(heartbeat.patience(), absl::InfiniteDuration());
}

}  // namespace
}  // namespace sideband::daemon
