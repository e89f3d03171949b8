// SPDX-License-Identifier: Apache-2.0
#include "daemon/stream/resume_token.h"

#include <gtest/gtest.h>

#include <set>

namespace sideband::daemon {
namespace {

using sideband::v1::SubscribeRequest;

constexpr char kWho[] = "spiffe://example.org/tenant-a";

StreamPosition Somewhere() {
  const absl::Time now = absl::FromUnixMillis(1'800'000'000'123);
  return {
      .policy_version = 3,
      .time = now,
      .state = 0x0123456789abcdef,
      .devices = {{.device = 0,
                   .name = "gpu0",
                   .boot_id = ~uint64_t{0},
                   .after = 41,
                   .due = absl::Nanoseconds(123'456'789'012'345),
                   .host_time = now - absl::Milliseconds(250)},
                  {.device = 300, .name = "gpu-away"},
                  {.device = 7,
                   .name = "board",
                   .after = 300,
                   .host_time = now + absl::Hours(1),
                   .sensors_steady = absl::Nanoseconds(-5),
                   .sensors_time = now - absl::Hours(30)}},
      .boards = {{.name = "board", .messages = 1'000'000, .reader_id = 9, .raised = {0, 3, 200}}, {.name = "other"}}};
}

class ResumeTokenTest : public testing::Test {
 protected:
  ResumeTokenTest() {
    request_.set_mode(SubscribeRequest::MODE_STREAM);
    request_.mutable_filter()->set_vm("vm0");
  }
  std::string Token() { return *tokens_->Begin(kWho, request_)->Seal(Somewhere()); }
  bool Opens(const std::string& token) { return tokens_->Open(kWho, request_, token).has_value(); }

  const std::unique_ptr<ResumeTokens> tokens_ = *ResumeTokens::Create();
  SubscribeRequest request_;
};

TEST_F(ResumeTokenTest, OpensToThePosition) {
  const auto opened = tokens_->Open(kWho, request_, Token());
  ASSERT_TRUE(opened);
  EXPECT_EQ(*opened, Somewhere());
}

TEST_F(ResumeTokenTest, EveryPositionSurvivesAndNoPrefixDecodes) {
  const Bytes bytes = EncodePosition(Somewhere());
  EXPECT_EQ(DecodePosition(bytes), Somewhere());
  EXPECT_EQ(DecodePosition(EncodePosition({})), StreamPosition());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodePosition(ByteSpan(bytes).first(size))) << size;
  }
  Bytes longer = bytes;
  longer.push_back(0);
  EXPECT_FALSE(DecodePosition(longer));
}

// The example in README.md.
TEST_F(ResumeTokenTest, WorkedExample) {
  const absl::Time time = absl::FromUnixMillis(1'800'000'000'123);
  const Bytes bytes = EncodePosition(
      {.policy_version = 3,
       .time = time,
       .devices = {
           {.device = 0, .name = "gpu0", .boot_id = 1, .after = 41, .host_time = time - absl::Milliseconds(250)}}});
  EXPECT_EQ(bytes, (Bytes{0x03, 0x7B, 0x50, 0x5C, 0x18, 0xA3, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                          0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x04, 0x67, 0x70, 0x75, 0x30, 0x00, 0x01,
                          0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x29, 0xF4, 0x03, 0x00}));
}

TEST_F(ResumeTokenTest, NoChangedBitOpens) {
  const std::string token = Token();
  for (size_t bit = 0; bit < 8 * token.size(); ++bit) {
    std::string changed = token;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << (bit % 8));
    EXPECT_FALSE(Opens(changed)) << bit;
  }
}

TEST_F(ResumeTokenTest, NoOtherLengthOpens) {
  const std::string token = Token();
  for (size_t size = 0; size < token.size(); ++size) EXPECT_FALSE(Opens(token.substr(0, size))) << size;
  EXPECT_FALSE(Opens(token + '\0'));
}

TEST_F(ResumeTokenTest, IsOfOneIdentityOneRequestAndOneRun) {
  const std::string token = Token();
  EXPECT_TRUE(Opens(token));
  EXPECT_FALSE(tokens_->Open("spiffe://example.org/tenant-b", request_, token));
  EXPECT_FALSE((*ResumeTokens::Create())->Open(kWho, request_, token));
  SubscribeRequest other = request_;
  other.mutable_filter()->set_vm("vm1");
  EXPECT_FALSE(tokens_->Open(kWho, other, token));
  other = request_;
  other.set_suppress_redundant(true);
  EXPECT_FALSE(tokens_->Open(kWho, other, token));
}

TEST_F(ResumeTokenTest, RequestsForTheSameStreamAreEqual) {
  const std::string token = Token();
  SubscribeRequest same = request_;
  same.set_resume_token(token);
  EXPECT_TRUE(tokens_->Open(kWho, same, token)) << "the token is no part of the request";
  same.set_stream_mode(SubscribeRequest::STREAM_MODE_SAMPLE);
  EXPECT_TRUE(tokens_->Open(kWho, same, token)) << "the default";
}

// Identity and request are apart: what ends one does not begin the other.
TEST_F(ResumeTokenTest, AnIdentityDoesNotContinueAsARequest) {
  SubscribeRequest empty;
  const std::string bytes = request_.SerializeAsString();
  const auto sealer = tokens_->Begin(kWho + bytes, empty)->Seal(Somewhere());
  EXPECT_FALSE(tokens_->Open(kWho, request_, *sealer));
}

TEST_F(ResumeTokenTest, NoTwoTokensAreEqual) {
  std::set<std::string> seen;
  for (int stream = 0; stream < 3; ++stream) {
    TokenSealer sealer = *tokens_->Begin(kWho, request_);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(seen.insert(*sealer.Seal(Somewhere())).second);
  }
}

TEST_F(ResumeTokenTest, TheMostDevicesFit) {
  StreamPosition position{.policy_version = 1000, .time = absl::FromUnixSeconds(1'800'000'000)};
  for (uint32_t i = 0; i < 256; ++i) {
    DevicePosition device = Somewhere().devices[0];
    device.device = i;
    device.name = std::string(60, 'x');
    device.sensors_steady = *device.due;
    position.devices.push_back(device);
  }
  EXPECT_LE(tokens_->Begin(kWho, request_)->Seal(position)->size(), kResumeTokenBytesMax);
}

}  // namespace

}  // namespace sideband::daemon
