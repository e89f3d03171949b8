// SPDX-License-Identifier: Apache-2.0
#include "daemon/transport/no_pec_transport.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "proto/smbus/transfer.h"

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
  LockFile lock_file() const override { return {.path = "bus"}; }

  std::vector<Transfer> log;
  Bytes content = {4, 0, 0, 0, 0};  // with its count
  Outcome outcome = Outcome::kOk;
};

// As callers make them, with a PEC.
Transfer WriteOf(uint8_t code, const Bytes& block) {
  Bytes bytes = {code, static_cast<uint8_t>(block.size())};
  bytes.insert(bytes.end(), block.begin(), block.end());
  const uint8_t address = smbus::AddressByte(0x4F, /*read=*/false);
  bytes.push_back(smbus::Pec(bytes, smbus::Pec({&address, 1})));
  return {{Message::Write(0x4F, bytes)}};
}
const Transfer kBlockRead = {{Message::Write(0x4F, {0x5D}), Message::Read(0x4F, 6)}};

// 0: the PEC at the end of a read is right.
uint8_t RestOf(const Bytes& read) {
  const uint8_t before[] = {smbus::AddressByte(0x4F, /*read=*/false), 0x5D, smbus::AddressByte(0x4F, /*read=*/true)};
  return smbus::Pec(read, smbus::Pec(before));
}

class NoPecTransportTest : public testing::Test {
 protected:
  NoPecTransportTest() {
    auto board = std::make_unique<BoardWithoutPec>();
    board_ = board.get();
    transport_ = std::make_unique<NoPecTransport>(std::move(board));
  }

  BoardWithoutPec* board_;
  std::unique_ptr<NoPecTransport> transport_;
};

TEST_F(NoPecTransportTest, AWriteHasNoPecOnTheBus) {
  ASSERT_EQ(transport_->Execute(WriteOf(0x5D, {0x78, 0x56, 0x34, 0x12}))->outcome, Outcome::kOk);
  EXPECT_EQ(board_->log[0], (Transfer{{Message::Write(0x4F, {0x5D, 4, 0x78, 0x56, 0x34, 0x12})}}));
  EXPECT_EQ(transport_->block_bytes_max(), 77u);
  EXPECT_EQ(transport_->lock_file().path, "bus");
}

TEST_F(NoPecTransportTest, AReadGetsOne) {
  board_->content = {4, 1, 2, 3, 0x80};
  const auto result = transport_->Execute(kBlockRead);
  EXPECT_EQ(board_->log[0], (Transfer{{Message::Write(0x4F, {0x5D}), Message::Read(0x4F, 5)}}));
  const Bytes& read = result->read.at(0);
  EXPECT_EQ(Bytes(read.begin(), read.begin() + 5), board_->content);
  EXPECT_EQ(read.size(), 6u);
  EXPECT_EQ(RestOf(read), 0);
}

TEST_F(NoPecTransportTest, AFailureOnTheWireStaysOne) {
  board_->outcome = Outcome::kAddressNack;
  EXPECT_EQ(*transport_->Execute(kBlockRead), (TransferResult{.outcome = Outcome::kAddressNack}));
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
