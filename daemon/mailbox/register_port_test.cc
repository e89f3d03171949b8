// SPDX-License-Identifier: Apache-2.0
#include "daemon/mailbox/register_port.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>

namespace sideband::daemon {
namespace {

using smbus::Outcome;
using smbus::TransferResult;

// Returns the scripted answers in order and records the transfers.
class ScriptedTransport final : public Transport {
 public:
  absl::StatusOr<TransferResult> Execute(const smbus::Transfer& transfer) override {
    sent.push_back(transfer);
    if (answers.empty()) return absl::UnavailableError("script ended");
    auto answer = answers.front();
    answers.pop_front();
    return answer;
  }
  std::vector<smbus::Transfer> sent;
  std::deque<absl::StatusOr<TransferResult>> answers;
};

// The golden status read of the facts sheet, 6.4: SUCCESS of GET_TEMP at 0x4F.
const TransferResult kSuccess = {.read = {{0x04, 0x02, 0x00, 0x00, 0x1F, 0x6F}}};
const TransferResult kBadPec = {.read = {{0x04, 0x02, 0x00, 0x00, 0x1E, 0x6F}}};

class RegisterPortTest : public testing::Test {
 protected:
  ScriptedTransport transport_;
  std::string outcomes_;
  RegisterPort port_{transport_, 0x4F, [this](absl::string_view outcome) { outcomes_ += std::string(outcome) + " "; }};
};

TEST_F(RegisterPortTest, ReadsARegister) {
  transport_.answers = {kSuccess};
  EXPECT_EQ(*port_.Read(0x5C), 0x1F000002u);
  EXPECT_EQ(transport_.sent[0],
            (smbus::Transfer{{smbus::Message::Write(0x4F, {0x5C}), smbus::Message::Read(0x4F, 6)}}));
  EXPECT_EQ(outcomes_, "ok ");
}

TEST_F(RegisterPortTest, WritesWithPec) {
  transport_.answers = {TransferResult{}};
  ASSERT_TRUE(port_.Write(0x5C, 0x80000002).ok());
  EXPECT_EQ(transport_.sent[0].messages[0].write_bytes, (Bytes{0x5C, 0x04, 0x02, 0x00, 0x00, 0x80, 0x56}));
}

TEST_F(RegisterPortTest, ASpoiledReadIsTriedAgain) {
  transport_.answers = {kBadPec, TransferResult{.outcome = Outcome::kAddressNack},
                        TransferResult{.read = {{0x04, 0x02}}}, kSuccess};
  EXPECT_EQ(*port_.Read(0x5C), 0x1F000002u);
  EXPECT_EQ(outcomes_, "bad_pec address_nack bad_length ok ");
}

TEST_F(RegisterPortTest, TheAttemptsAreBounded) {
  for (int i = 0; i < 10; ++i) transport_.answers.push_back(kBadPec);
  EXPECT_EQ(port_.Read(0x5C).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(transport_.sent.size(), size_t{RegisterPort::kAttemptsMax});
}

TEST_F(RegisterPortTest, EveryOutcomeHasItsStatus) {
  const struct {
    Outcome outcome;
    absl::StatusCode code;
  } kCases[] = {
      {Outcome::kAddressNack, absl::StatusCode::kUnavailable}, {Outcome::kDataNack, absl::StatusCode::kUnavailable},
      {Outcome::kArbitrationLost, absl::StatusCode::kAborted}, {Outcome::kTimeout, absl::StatusCode::kDeadlineExceeded},
      {Outcome::kBadCount, absl::StatusCode::kDataLoss},
  };
  for (const auto& test : kCases) {
    transport_.answers.assign(RegisterPort::kAttemptsMax, TransferResult{.outcome = test.outcome});
    EXPECT_EQ(port_.Read(0x5C).status().code(), test.code);
  }
}

TEST_F(RegisterPortTest, ABlockOfAnotherLengthIsRefused) {
  // A count of one with a correct PEC; an idle bus (all ones); a correct count with missing bytes.
  for (const Bytes& read : {Bytes{0x01, 0xAA, 0x7A, 0xFF, 0xFF, 0xFF}, Bytes(6, 0xFF), Bytes{0x04, 0x02, 0x00}}) {
    outcomes_.clear();
    transport_.answers.assign(RegisterPort::kAttemptsMax, TransferResult{.read = {read}});
    EXPECT_EQ(port_.Read(0x5C).status().code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(outcomes_, "bad_length bad_length bad_length bad_length ");
  }
}

TEST_F(RegisterPortTest, ReadsABlockOfAKnownLength) {
  transport_.answers = {TransferResult{.read = {{0x03, 'a', 'b', 'c', 0x8B}}}};
  EXPECT_EQ(*port_.ReadBlock(0xD0, 3), (Bytes{'a', 'b', 'c'}));
  EXPECT_EQ(transport_.sent[0],
            (smbus::Transfer{{smbus::Message::Write(0x4F, {0xD0}), smbus::Message::Read(0x4F, 5)}}));
}

TEST_F(RegisterPortTest, APecThatTheAdapterFoundWrongIsTriedAgain) {
  transport_.answers = {absl::DataLossError("adapter: wrong PEC"), kSuccess};
  EXPECT_EQ(*port_.Read(0x5C), 0x1F000002u);
  EXPECT_EQ(outcomes_, "bad_pec ok ");
}

TEST_F(RegisterPortTest, AnUnusableBusIsSaidAsItIs) {
  EXPECT_EQ(port_.Write(0x5D, 1).message(), "script ended");
  EXPECT_EQ(outcomes_, "bus_error ") << "the target may have taken the write";
}

}  // namespace
}  // namespace sideband::daemon
