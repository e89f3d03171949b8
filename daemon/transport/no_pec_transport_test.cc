// SPDX-License-Identifier: Apache-2.0
#include "daemon/transport/no_pec_transport.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "daemon/mailbox/register_port.h"

namespace sideband::daemon {
namespace {

using smbus::Message;
using smbus::Outcome;
using smbus::Transfer;
using smbus::TransferResult;

// A board with a register of 32 bits, which refuses a write that has a PEC, and sends 0xFF after the block.
class BoardWithoutPec final : public Transport {
 public:
  absl::StatusOr<TransferResult> Execute(const Transfer& transfer) override {
    log.push_back(transfer);
    if (outcome != Outcome::kOk) return TransferResult{.outcome = outcome};
    const Message& last = transfer.messages.back();
    if (!last.read) {
      if (last.write_bytes.size() != 6) return TransferResult{.outcome = Outcome::kDataNack};
      content = Bytes(last.write_bytes.begin() + 1, last.write_bytes.end());
      return TransferResult();
    }
    Bytes read = content;
    read.resize(last.read_size, 0xFF);
    return TransferResult{.read = {read}};
  }
  size_t block_bytes_max() const override { return 77; }

  std::vector<Transfer> log;
  Bytes content = {4, 0, 0, 0, 0};  // with its count
  Outcome outcome = Outcome::kOk;
};

class NoPecTransportTest : public testing::Test {
 protected:
  NoPecTransportTest() {
    auto board = std::make_unique<BoardWithoutPec>();
    board_ = board.get();
    transport_ = std::make_unique<NoPecTransport>(std::move(board));
    port_ = std::make_unique<RegisterPort>(*transport_, 0x4F,
                                           [this](absl::string_view outcome) { outcomes_.emplace_back(outcome); });
  }

  BoardWithoutPec* board_;
  std::unique_ptr<NoPecTransport> transport_;
  std::vector<std::string> outcomes_;
  std::unique_ptr<RegisterPort> port_;
};

TEST_F(NoPecTransportTest, RegistersAreWrittenAndRead) {
  ASSERT_TRUE(port_->Write(0x5D, 0x1234'5678).ok());
  EXPECT_EQ(board_->log[0], (Transfer{{Message::Write(0x4F, {0x5D, 4, 0x78, 0x56, 0x34, 0x12})}}));
  EXPECT_EQ(port_->Read(0x5D).value(), 0x1234'5678u);
  EXPECT_EQ(board_->log[1], (Transfer{{Message::Write(0x4F, {0x5D}), Message::Read(0x4F, 5)}}));
  EXPECT_EQ(outcomes_, (std::vector<std::string>{"ok", "ok"}));
  EXPECT_EQ(transport_->block_bytes_max(), 77u);
}

TEST_F(NoPecTransportTest, ABlockOfAnotherLengthIsRefused) {
  board_->content[0] = 3;
  EXPECT_EQ(port_->Read(0x5D).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(outcomes_[0], "bad_length");
}

TEST_F(NoPecTransportTest, AFailureOnTheWireStaysOne) {
  board_->outcome = Outcome::kAddressNack;
  EXPECT_EQ(port_->Read(0x5D).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(outcomes_[0], "address_nack");
}

TEST_F(NoPecTransportTest, OtherTransactionsAreLeftAsTheyAre) {
  const Transfer probe = {{Message::Write(0x4F, {})}}, byte = {{Message::Write(0x4F, {0x62}), Message::Read(0x4F, 1)}};
  for (const Transfer& transfer : {probe, byte}) {
    (void)transport_->Execute(transfer);
    EXPECT_EQ(board_->log.back(), transfer);
  }
}

}  // namespace
}  // namespace sideband::daemon
