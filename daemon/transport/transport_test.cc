// SPDX-License-Identifier: Apache-2.0
#include "daemon/transport/transport.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "proto/smbus/transfer.h"

namespace sideband::daemon {
namespace {

using smbus::Message;
using smbus::Transfer;

// The reference frames of SMBPBI's GET_TEMP at 0x4F.
const Bytes kGetTempFrame = {0x5C, 0x04, 0x02, 0x00, 0x00, 0x80, 0x56};
const Bytes kDoneFrame = {0x04, 0x02, 0x00, 0x00, 0x1F, 0x6F};

TEST(SmbusShapeTest, ABlockWrite) {
  const Transfer transfer = {{Message::Write(0x4F, kGetTempFrame)}};
  const auto write = AsBlockWrite(transfer);
  ASSERT_TRUE(write.has_value());
  EXPECT_EQ(write->address, 0x4F);
  EXPECT_EQ(write->code, 0x5C);
  EXPECT_EQ(Bytes(write->block.begin(), write->block.end()), (Bytes{0x02, 0x00, 0x00, 0x80}));
}

TEST(SmbusShapeTest, WhatIsNoBlockWriteWithPec) {
  Bytes wrong_pec = kGetTempFrame, wrong_count = kGetTempFrame, without = kGetTempFrame;
  wrong_pec.back() ^= 1;
  wrong_count[1] = 3;
  without.pop_back();
  for (const Bytes& bytes :
       {wrong_pec, wrong_count, without, Bytes{}, Bytes{0x5C}, Bytes{0x5C, 0x00, 0x00}, Bytes(36)}) {
    EXPECT_FALSE(AsBlockWrite({{Message::Write(0x4F, bytes)}}).has_value());
  }
  EXPECT_FALSE(AsBlockWrite({{Message::Read(0x4F, 7)}}).has_value());
  EXPECT_FALSE(AsBlockWrite({{Message::Write(0x4F, kGetTempFrame), Message::Write(0x4F, kGetTempFrame)}}).has_value());
  EXPECT_FALSE(AsBlockWrite({}).has_value());
}

TEST(SmbusShapeTest, ABlockRead) {
  const auto known = AsBlockRead({{Message::Write(0x4F, {0x5C}), Message::Read(0x4F, 6)}});
  ASSERT_TRUE(known.has_value());
  EXPECT_EQ(known->code, 0x5C);
  EXPECT_EQ(known->wire_bytes, 6u);
  const auto counted = AsBlockRead({{Message::Write(0x4F, {0xD0}), Message::ReadBlock(0x4F, 1)}});
  ASSERT_TRUE(counted.has_value());
  EXPECT_EQ(counted->wire_bytes, 0u);
}

TEST(SmbusShapeTest, WhatIsNoBlockRead) {
  const Message code = Message::Write(0x4F, {0x5C});
  EXPECT_TRUE(AsBlockRead({{code, Message::Read(0x4F, 34)}}).has_value()) << "32 bytes";
  EXPECT_FALSE(AsBlockRead({{code, Message::Read(0x4F, 35)}}).has_value()) << "33 bytes";
  EXPECT_TRUE(AsBlockRead({{code, Message::Read(0x4F, 3)}}).has_value()) << "1 byte";
  EXPECT_FALSE(AsBlockRead({{code, Message::Read(0x4F, 2)}}).has_value()) << "none";
  EXPECT_FALSE(AsBlockRead({{code, Message::ReadBlock(0x4F, 0)}}).has_value()) << "no PEC";
  EXPECT_FALSE(AsBlockRead({{code, Message::Read(0x4E, 6)}}).has_value()) << "another address";
  EXPECT_FALSE(AsBlockRead({{Message::Write(0x4F, {1, 2}), Message::Read(0x4F, 6)}}).has_value());
  EXPECT_FALSE(AsBlockRead({{code, code}}).has_value());
  EXPECT_FALSE(AsBlockRead({{code}}).has_value());
}

TEST(SmbusShapeTest, WhatWouldHaveBeenClocked) {
  const Bytes block = {0x02, 0x00, 0x00, 0x1F};
  EXPECT_EQ(AsClocked({0x4F, 0x5C, 6}, block), kDoneFrame);
  EXPECT_EQ(AsClocked({0x4F, 0x5C, 0}, block), kDoneFrame);
  EXPECT_EQ(AsClocked({0x4F, 0x5C, 3}, block), (Bytes{0x04, 0x02, 0x00}));
  EXPECT_EQ(AsClocked({0x4F, 0x5C, 8}, block).back(), 0xFF);
}

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
