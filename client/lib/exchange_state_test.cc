// SPDX-License-Identifier: Apache-2.0
#include "client/lib/exchange_state.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace sideband::client {
namespace {

using envelope::RecordHeader;

constexpr uint64_t kFirstBoot = 90;

RecordHeader Header(uint64_t boot_id, uint32_t generation, uint64_t time_ns) {
  return {.device = {{1}},
          .boot_id = boot_id,
          .vm = {{2}},
          .generation = generation,
          .reference_time_ns = time_ns,
          .guest_nonce = envelope::GuestNonce{0xAB, 1}};
}

class ExchangeStateTest : public testing::Test {
 protected:
  ExchangeStateTest() { std::filesystem::create_directory(folder_); }
  ~ExchangeStateTest() override { std::filesystem::remove_all(folder_); }

  absl::Status Raise(const RecordHeader& header) const { return state_.Acquire()->Raise(header); }
  bool Follows(const RecordHeader& header) const {
    const absl::Status status = state_.Acquire()->CheckFollows(header);
    EXPECT_TRUE(status.ok() || status == absl::DataLossError("record rejected")) << status;
    return status.ok();
  }
  absl::Status CheckWith(const std::string& text) const {
    std::ofstream(path_) << text;
    ::chmod(path_.c_str(), 0600);
    return state_.Acquire()->CheckFollows(Header(kFirstBoot, 1, 1));
  }
  std::string Text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const std::string folder_ = testing::TempDir() + "/exchange_state." + std::to_string(::getpid());
  const std::string path_ = folder_ + "/state.json";
  const ExchangeState state_{path_};
};

TEST_F(ExchangeStateTest, AnOlderInstantOfABootIsRejected) {
  EXPECT_TRUE(Follows(Header(kFirstBoot, 3, 0))) << "nothing is known yet";
  ASSERT_TRUE(Raise(Header(kFirstBoot, 3, 1000)).ok());
  EXPECT_TRUE(Follows(Header(kFirstBoot, 3, 1000))) << "the same snapshot, opened by two programs";
  EXPECT_TRUE(Follows(Header(kFirstBoot, 4, 1001)));
  EXPECT_FALSE(Follows(Header(kFirstBoot, 3, 999)));
  EXPECT_FALSE(Follows(Header(kFirstBoot, 2, 1001)));
  EXPECT_FALSE(Follows(Header(kFirstBoot, 4, 999)));
}

TEST_F(ExchangeStateTest, ABootThatHasEndedDoesNotComeBack) {
  for (uint64_t boot = 0; boot <= ExchangeState::kEarlierBootsMax; ++boot) {
    ASSERT_TRUE(Follows(Header(kFirstBoot + boot, 0, 0))) << "a new boot begins at any time";
    ASSERT_TRUE(Raise(Header(kFirstBoot + boot, 0, 0)).ok());
  }
  EXPECT_FALSE(Follows(Header(kFirstBoot, 9, 9999)));
  ASSERT_TRUE(Raise(Header(1, 0, 0)).ok());
  EXPECT_TRUE(Follows(Header(kFirstBoot, 0, 0))) << "it is forgotten after 16 others";
  EXPECT_FALSE(Follows(Header(kFirstBoot + 1, 0, 0)));
}

TEST_F(ExchangeStateTest, IsNeverLowered) {
  ASSERT_TRUE(Raise(Header(kFirstBoot, 3, 1000)).ok());
  const std::string text = Text();
  ASSERT_TRUE(Raise(Header(kFirstBoot, 3, 10)).ok());
  EXPECT_EQ(Text(), text);
  EXPECT_EQ(text.substr(0, 14), "{\"version\":2,\"");
}

TEST_F(ExchangeStateTest, OfAnotherVm) {
  ASSERT_TRUE(Raise(Header(kFirstBoot, 3, 1000)).ok());
  RecordHeader other = Header(kFirstBoot, 3, 1001);
  other.vm = {{7}};
  EXPECT_EQ(state_.Acquire()->CheckFollows(other).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Raise(other).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ExchangeStateTest, WhatIsNoState) {
  ASSERT_TRUE(Raise(Header(kFirstBoot, 1, 1)).ok());
  const std::string good = Text();
  EXPECT_TRUE(CheckWith(good).ok());
  for (const std::string text : {"", "{}", "[]", "{\"version\":1}"}) {
    EXPECT_EQ(CheckWith(text).code(), absl::StatusCode::kInvalidArgument) << text;
  }
  const size_t boots = good.find("[]");
  for (const std::string bad : {"[1]", "[\"x\"]", "{}", "null"}) {
    std::string text = good;
    EXPECT_EQ(CheckWith(text.replace(boots, 2, bad)).code(), absl::StatusCode::kInvalidArgument) << text;
  }
  EXPECT_EQ(CheckWith(good.substr(0, good.size() - 3)).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace sideband::client
