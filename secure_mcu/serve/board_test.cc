// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/serve/board.h"

#include <gtest/gtest.h>

namespace sideband::mcu {
namespace {

using smbus::Message;
using smbus::Outcome;

class NoCommands final : public CommandHandler {
 public:
  Reply Execute(const mailbox::CommandWord&, uint32_t, uint32_t) override { return {}; }
  ByteSpan Window(uint8_t) const override { return {}; }
};

class BoardTest : public testing::Test {
 protected:
  static Outcome Write(Board& board, uint8_t address, Bytes bytes) {
    VirtualBus bus;
    board.Connect(bus);
    return bus.Execute({{Message::Write(address, std::move(bytes))}}).outcome;
  }
  static uint8_t ReadByte(Board& board, uint8_t address, uint8_t code) {
    VirtualBus bus;
    board.Connect(bus);
    return bus.Execute({{Message::Write(address, {code}), Message::Read(address, 1)}}).read.at(0).at(0);
  }
  NoCommands commands_;
};

TEST_F(BoardTest, IsOursUnlessItIsToldOtherwise) {
  Board board({}, commands_, /*own_handler=*/nullptr);
  EXPECT_EQ(Write(board, 0x4F, {}), Outcome::kOk);
  EXPECT_EQ(Write(board, 0x50, {}), Outcome::kAddressNack);
  EXPECT_EQ(ReadByte(board, 0x4F, 0x62), 0x53);
  EXPECT_EQ(ReadByte(board, 0x4F, 0x63), 0x42);
}

TEST_F(BoardTest, NvidiasHasAnEepromToo) {
  Board board({.persona = Persona::kNvidia}, commands_, /*own_handler=*/nullptr);
  EXPECT_EQ(ReadByte(board, 0x4F, 0x62), 0xDE);
  EXPECT_EQ(ReadByte(board, 0x4F, 0x63), 0x10);
  EXPECT_EQ(Write(board, 0x50, {}), Outcome::kOk) << "a probe";
  EXPECT_EQ(Write(board, 0x50, {0}), Outcome::kDataNack) << "with nothing in it";
}

TEST_F(BoardTest, TheMailboxIsWhereItWasToldToBe) {
  Board board({.address = 0x50, .persona = Persona::kNvidia}, commands_, /*own_handler=*/nullptr);
  EXPECT_EQ(ReadByte(board, 0x50, 0x62), 0xDE);
  EXPECT_EQ(Write(board, 0x4F, {}), Outcome::kAddressNack);
}

TEST_F(BoardTest, IsGoneWhenItIsTakenOff) {
  VirtualBus bus;
  Board board({.persona = Persona::kNvidia}, commands_, /*own_handler=*/nullptr);
  board.Connect(bus);
  board.Disconnect(bus);
  for (const uint8_t address : {0x4F, 0x50}) {
    EXPECT_EQ(bus.Execute({{Message::Write(address, {})}}).outcome, Outcome::kAddressNack);
  }
}

}  // namespace
}  // namespace sideband::mcu
