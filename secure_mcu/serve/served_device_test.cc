// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/serve/served_device.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "secure_mcu/chip_file/chip_file.h"

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

absl::Duration AtStart() { return absl::ZeroDuration(); }

// A chip with a program and without a board's parts.
ChipFile ChipWithProgram() {
  const std::string path = testing::TempDir() + "chip.yaml";
  std::ofstream(testing::TempDir() + "endless.hex") << "0000006f\n";
  std::ofstream(path) << "device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10}\n"
                         "program: {hex: endless.hex}\n";
  auto file = LoadChipFile(path);
  EXPECT_TRUE(file.ok()) << file.status();
  return *std::move(file);
}

TEST(ServedDeviceTest, AChipWithAProgramHasNoGuestPorts) {
  const std::string ports = testing::TempDir() + "ports";
  const ChipFile file = ChipWithProgram();
  EXPECT_TRUE(ServedDevice::PowerOn(file, {}, AtStart).ok());
  EXPECT_EQ(ServedDevice::PowerOn(file, {.guest_ports = ports}, AtStart).status(),
            absl::InvalidArgumentError(
                absl::StrCat(file.path, ":2: the cores of a program have the registers: no guest ports")));
  EXPECT_FALSE(std::filesystem::exists(ports));
}

TEST(ServedDeviceTest, AFaultOfTheBoardNeedsItsPart) {
  ChipFile file = ChipWithProgram();
  file.board.ecc = EccGeneration::kV6;
  const auto device = ServedDevice::PowerOn(file, {}, AtStart);
  ASSERT_TRUE(device.ok()) << device.status();
  (*device)->Strike({.kind = sim::BoardFaultKind::kEcc, .count = 3});
  (*device)->Strike({.kind = sim::BoardFaultKind::kRetirePage});
  EXPECT_EQ((*device)->board_state().dram.corrected, 3u);
  EXPECT_EQ((*device)->board_state().pages.single_bit, 0) << "no pages to retire";
}

TEST(ServedDeviceTest, AMessageHasTheTimeOfDay) {
  ChipFile file = ChipWithProgram();
  file.board.driver_events = true;
  const struct {
    std::function<absl::Time()> time_of_day;
    uint32_t time_s;
  } kCases[] = {{nullptr, 0},
                {[] { return absl::FromUnixSeconds(1'700'000'000); }, 1'700'000'000},
                {[] { return absl::FromUnixSeconds(-1); }, 0},
                {[] { return absl::FromUnixSeconds(int64_t{1} << 32); }, 0xFFFF'FFFF}};
  for (const auto& test : kCases) {
    const auto device = ServedDevice::PowerOn(file, {.time_of_day = test.time_of_day}, AtStart);
    ASSERT_TRUE(device.ok()) << device.status();
    (*device)->Strike({.kind = sim::BoardFaultKind::kXid, .xid = 63});
    EXPECT_EQ((*device)->board_state().driver.FindFrom(1)->time_s, test.time_s);
  }
}

}  // namespace

}  // namespace sideband::mcu
