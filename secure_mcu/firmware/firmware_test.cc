// SPDX-License-Identifier: Apache-2.0
//
// The firmware, and the rows of the base commands and their capabilities: every capability bit that is set has a
// command that succeeds, and every command that succeeds has its bit. Both are checked by the table below and by all
// arguments of all opcodes.
#include "secure_mcu/firmware/firmware.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/extension.h"
#include "proto/smbus/transfer.h"
#include "secure_mcu/firmware/fake_device.h"
#include "secure_mcu/firmware/fake_gpu.h"
#include "secure_mcu/firmware/mailbox_target.h"

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;
using mailbox::Opcode;
using smbus::Message;

class BaseCommandsTest : public testing::Test {
 protected:
  Reply Run(uint8_t opcode, uint8_t arg1 = 0, uint8_t arg2 = 0, uint32_t data = 0) {
    return commands_.Execute({.opcode = static_cast<Opcode>(opcode), .arg1 = arg1, .arg2 = arg2}, data);
  }

  FakeGpu gpu_;
  BoardUnit board_{gpu_, PowerModel({.idle_mw = 10'000, .ambient_c = 20, .c_per_watt = 0.55})};
  BaseCommands commands_{gpu_, board_, Persona::kSideband};
};

TEST_F(BaseCommandsTest, EveryOpcodeGoesToItsPart) {
  gpu_.time_ns = 1'000'000'000;
  EXPECT_EQ(Run(0x00, 1, 2).status, MailboxStatus::kSuccess) << "NULL takes anything";
  EXPECT_EQ(Run(0x02).data, 25u * 256);
  EXPECT_EQ(Run(0x03).data, 25u * 256 + 128);
  EXPECT_EQ(Run(0x04).data, 10'000u);
  EXPECT_EQ(Run(0x05, 0x09).data, 0x4253u);
  EXPECT_EQ(Run(0x0E, 7, 0, 99).status, MailboxStatus::kSuccess);
  EXPECT_EQ(Run(0x0F, 8, 0, 7).status, MailboxStatus::kSuccess);
  EXPECT_EQ(Run(0x0D, 8).data, 99u);
  EXPECT_EQ(Run(0x10, 0x08, 0).status, MailboxStatus::kAccepted);
  EXPECT_EQ(Run(0x11, 1, 1).data, 1u);
  EXPECT_EQ(Run(0x18).data, 0x78u);
  EXPECT_EQ(Run(0x1B).data, 1000u);
  EXPECT_EQ(Run(0x22).data, 10'000u) << "10 W for a second";
  EXPECT_EQ(Run(0x27).data, 0x65646973u) << "side";
  EXPECT_EQ(Run(0x28, 0x01, 0xFF).status, MailboxStatus::kSuccess);
}

TEST_F(BaseCommandsTest, ASecondArgumentThatMeansNothingIsAnError) {
  for (const uint8_t opcode : {0x01, 0x02, 0x03, 0x04, 0x0D, 0x18, 0x22}) {
    EXPECT_EQ(Run(opcode, 0, 1).status, MailboxStatus::kErrArg2) << int{opcode};
  }
  EXPECT_EQ(Run(0x01, 6, 1).status, MailboxStatus::kErrArg1) << "the first is judged first";
}

TEST_F(BaseCommandsTest, EverythingElseIsNoOpcode) {
  for (const int opcode : {0x06, 0x07, 0x0A, 0x12, 0x1C, 0x1F, 0x23, 0x24, 0x29, 0x5F, 0xFF}) {
    EXPECT_EQ(Run(static_cast<uint8_t>(opcode)).status, MailboxStatus::kErrOpcode) << opcode;
  }
}

TEST_F(BaseCommandsTest, EventsAreToldOnceTheyAreEnabled) {
  EXPECT_FALSE(commands_.EventPending());
  Run(0x11, 0, 2, 1);
  EXPECT_TRUE(commands_.EventPending());
  Run(0x11, 0, 1, 0);
  EXPECT_FALSE(commands_.EventPending());
}

TEST_F(BaseCommandsTest, CapabilitiesOfADeviceThatHasEverything) {
  const uint32_t expected[] = {0x00010801, 0x31002705, 0x00088004, 0, 0x01800010, 0x00000040};
  for (uint8_t dword = 0; dword < 6; ++dword) EXPECT_EQ(Run(0x01, dword).data, expected[dword]) << int{dword};
  EXPECT_EQ(Run(0x01, 6).status, MailboxStatus::kErrArg1);
  EXPECT_EQ(Run(0x01, 0x80).status, MailboxStatus::kErrArg1);
}

TEST_F(BaseCommandsTest, CapabilitiesOfADeviceThatTellsLittle) {
  FakeDevice device;
  BoardUnit board(device, PowerModel({}));
  BaseCommands commands(device, board, Persona::kSideband);
  const auto dword = [&](uint8_t index) {
    return commands.Execute({.opcode = Opcode::kGetCapabilities, .arg1 = index}, 0).data;
  };
  EXPECT_EQ(dword(4), 0x00800000u) << "neither utilisation nor performance monitoring";
  EXPECT_EQ(dword(5), 0u) << "nor memory capacity";
}

constexpr uint8_t kAsync = 0x10, kAsyncPoll = 0xFF;

// A capability of the facts sheet, 3.2, and its command.
struct Capability {
  uint8_t dword;
  uint8_t bit;
  uint8_t opcode;
  uint8_t arg1;
  uint8_t arg2;
};

std::vector<Capability> Capabilities() {
  std::vector<Capability> table = {
      {0, 0, 0x02, 0, 0},       {0, 1, 0x02, 1, 0},        {0, 4, 0x02, 4, 0},        {0, 5, 0x02, 5, 0},
      {0, 6, 0x02, 6, 0},       {0, 7, 0x02, 7, 0},        {0, 11, 0x03, 0, 0},       {0, 12, 0x22, 3, 0},
      {0, 13, kAsync, 0x12, 0}, {0, 14, kAsync, 0x13, 0},  {0, 15, kAsync, 0x14, 0},  {0, 16, 0x04, 0, 0},
      {0, 17, 0x08, 0, 0},      {0, 18, 0x09, 0, 0},       {0, 19, 0x15, 5, 0},       {0, 24, 0x15, 0, 0},
      {0, 30, 0x04, 2, 0},      {0, 31, 0x04, 3, 0},       {1, 16, 0x06, 0, 0},       {1, 17, 0x07, 0, 0},
      {1, 18, 0x0C, 0, 0},      {1, 19, 0x13, 0, 0},       {1, 20, 0x14, 0, 0},       {1, 21, 0x16, 0, 0},
      {1, 22, 0x17, 0, 0},      {1, 24, 0x18, 1, 0},       {1, 25, 0x19, 0, 0},       {1, 26, 0x1A, 1, 0},
      {1, 28, 0x1B, 0, 0},      {1, 28, 0x1B, 1, 0},       {1, 28, 0x1B, 2, 0},       {1, 29, 0x18, 0, 0},
      {1, 30, 0x1E, 0, 0},      {1, 31, 0x1B, 4, 0},       {2, 1, 0x0B, 0, 0},        {2, 2, 0x0D, 0, 0},
      {2, 2, 0x0E, 0, 0},       {2, 2, 0x0F, 0, 0},        {2, 5, kAsync, 0x03, 0},   {2, 11, kAsync, 0x00, 0},
      {2, 11, kAsync, 0x01, 0}, {2, 11, kAsync, 0x02, 0},  {2, 13, 0x20, 0, 0},       {2, 14, 0x21, 0, 0},
      {2, 15, 0x18, 1, 0},      {2, 16, 0x1A, 9, 0},       {2, 19, 0x22, 0, 0},       {2, 19, kAsync, 0x08, 0},
      {2, 26, 0x1B, 3, 0},      {4, 0, kAsync, 0x09, 0},   {4, 4, kAsync, 0x0A, 0},   {4, 5, 0x1D, 0, 0},
      {4, 6, 0x1C, 1, 0},       {4, 7, kAsync, 0x0C, 0},   {4, 11, kAsync, 0x0F, 0},  {4, 22, 0x26, 0, 0},
      {4, 23, 0x27, 0, 0},      {4, 24, 0x28, 0x01, 0xFF}, {4, 24, 0x28, 0x80, 0xFF}, {4, 24, 0x28, 0xC0, 0x01},
      {4, 30, kAsync, 0x11, 0}, {5, 6, kAsync, 0x15, 0},
  };
  // Bits of parts of these commands: of one bit each, whatever else the board has.
  for (const auto& [bit, item] : {std::pair(27, 3), std::pair(17 + 32, 7), std::pair(18 + 32, 8),
                                  std::pair(22 + 32, 0xD), std::pair(23 + 32, 0xE), std::pair(27 + 32, 0xF)}) {
    table.push_back(
        {static_cast<uint8_t>(1 + bit / 32), static_cast<uint8_t>(bit % 32), 0x1A, static_cast<uint8_t>(item), 0});
  }
  for (const auto& [bit, item] : {std::pair(20, 1), std::pair(21, 2)}) {
    table.push_back({2, static_cast<uint8_t>(bit), 0x20, static_cast<uint8_t>(item), 0});
  }
  for (uint8_t bit = 20; bit <= 23; ++bit) table.push_back({0, bit, 0x15, static_cast<uint8_t>(bit - 14), 0});
  for (const auto& [bit, param] : {std::pair(25, 1), std::pair(26, 2), std::pair(27, 3), std::pair(28, 4)}) {
    table.push_back({0, static_cast<uint8_t>(bit), 0x15, static_cast<uint8_t>(param), 0});
  }
  for (uint8_t bit = 1; bit <= 3; ++bit) table.push_back({4, bit, kAsync, 0x09, 0});
  table.push_back({1, 31, 0x1B, 5, 0});  // what is active, of what is supported
  table.push_back({2, 25, 0x21, 3, 0});  // target speed
  table.push_back({4, 26, 0x1D, 1, 0});  // by sequence
  table.push_back({4, 26, 0x1D, 2, 0});  // by time
  table.push_back({5, 9, 0x1E, 2, 0});   // threshold
  for (uint8_t item = 0; item <= 0x0E; ++item) table.push_back({1, item, 0x05, item, 0});
  for (const auto& [bit, item] : {std::pair(6, 0x0F), std::pair(7, 0x10), std::pair(8, 0x11), std::pair(9, 0x12),
                                  std::pair(10, 0x13), std::pair(31, 0x15)}) {
    table.push_back({2, static_cast<uint8_t>(bit), 0x05, static_cast<uint8_t>(item), 0});
  }
  return table;
}

// A chip alone, one with all features, or a board with everything, by generation of its ECC.
struct Kind {
  const char* name;
  bool has_features;
  std::optional<EccGeneration> board;
};

BoardSpec SpecOf(const Kind& kind) {
  if (!kind.board) return {};
  return {.name = "Board",
          .thermal = ThermalLimits{},
          .power_limit = PowerLimits{.least_mw = 0},
          .module_overhead_mw = 0,
          .memory = MemorySensorSpec{},
          .throttled_domain = 1,
          .ecc = kind.board,
          .row_remapping = true,
          .page_retirement = true,
          .nvlink = NvlinkSpec{.count = 1},
          .pcie = PcieSpec{},
          .power_connector = true,
          .write_protection = true,
          .driver_events = true,
          .bundles = true};
}

class CapabilitiesTest : public testing::TestWithParam<Kind> {
 protected:
  CapabilitiesTest() {
    if (!GetParam().has_features) {
      for (auto& event : gpu_.catalog().events) event.name = "x" + event.name;
      gpu_.memory.reset();
    }
    if (GetParam().board) gpu_.clock = WorkloadClock{.levels = {1'000'000'000}, .hz = 1'000'000'000};
    board_.emplace(gpu_, PowerModel({}), SpecOf(GetParam()));
    commands_.emplace(gpu_, *board_, Persona::kSideband);
    gpu_.time_ns = 1'000'000'000;
  }
  Reply Run(uint8_t opcode, uint8_t arg1, uint8_t arg2) {
    // A message that was read is gone.
    // Parameters of all zeros; earlier requests have left results there.
    const bool sets_limit = opcode == kAsync && (arg1 == 0x01 || arg1 == 0x13);
    if (sets_limit) commands_->Execute({.opcode = Opcode::kScratchWrite, .arg1 = arg2, .arg2 = 2}, 0);
    if (opcode == 0x1D && board_->state.driver.empty()) board_->state.driver.Append({});
    return commands_->Execute({.opcode = static_cast<Opcode>(opcode), .arg1 = arg1, .arg2 = arg2}, 0);
  }
  bool Answers(uint8_t opcode, uint8_t arg1, uint8_t arg2) {
    const Reply reply = Run(opcode, arg1, arg2);
    if (opcode != kAsync || arg1 == kAsyncPoll) return reply.status == MailboxStatus::kSuccess;
    const Reply poll = Run(kAsync, kAsyncPoll, static_cast<uint8_t>(reply.data));
    return poll.status == MailboxStatus::kSuccess && poll.data == 0;
  }
  uint32_t Dword(uint8_t dword) { return Run(0x01, dword, 0).data; }

  FakeGpu gpu_;
  std::optional<BoardUnit> board_;
  std::optional<BaseCommands> commands_;
};

TEST(BaseCommandRowsTest, BoardsServeEachOpcode) {
  std::set<Opcode> served;
  for (const auto generation :
       {EccGeneration::kV2, EccGeneration::kV3, EccGeneration::kV4, EccGeneration::kV5, EccGeneration::kV6}) {
    FakeGpu gpu;
    gpu.clock = WorkloadClock{.levels = {1'000'000'000}, .hz = 1'000'000'000};
    BoardUnit board(gpu, PowerModel({}), SpecOf({"board", true, generation}));
    BaseCommands commands(gpu, board, Persona::kSideband);
    for (const mailbox::OpcodeRow& row : mailbox::kOpcodes) {
      if (commands.Execute({.opcode = row.opcode}, 0).status != MailboxStatus::kErrOpcode) served.insert(row.opcode);
    }
  }
  for (const mailbox::OpcodeRow& row : mailbox::kOpcodes) {
    EXPECT_EQ(served.contains(row.opcode), !mailbox::IsExtension(row.opcode)) << row.name;
  }
}

// Bits of the table stand for commands. In dword 2, bit 12 is the size of scratch pages; bits 2 to 4 are their number.
TEST_P(CapabilitiesTest, ABitIsSetIfItsCommandAnswers) {
  std::set<std::pair<int, int>> known = {{1, 23}};  // ECC: a flag of page 0, which has others, too
  for (const Capability& capability : Capabilities()) {
    known.emplace(capability.dword, capability.bit);
    const bool is_set = (Dword(capability.dword) >> capability.bit & 1) != 0;
    EXPECT_EQ(Answers(capability.opcode, capability.arg1, capability.arg2), is_set) << absl::StrFormat(
        "capability %d bit %d, opcode %02x %02x", capability.dword, capability.bit, capability.opcode, capability.arg1);
  }
  for (uint8_t dword = 0; dword < mailbox::kCapabilityDwords; ++dword) {
    for (int bit = 0; bit < 32; ++bit) {
      if ((Dword(dword) >> bit & 1) == 0) continue;
      EXPECT_TRUE(known.count({dword, bit})) << "capability " << int{dword} << " bit " << bit << " stands for nothing";
    }
  }
}

// Whether the table has a capability for the command, or every SMBPBI device serves the command.
bool IsAnnounced(uint8_t opcode, uint8_t arg1) {
  static const std::set<uint8_t>& always = *new std::set<uint8_t>{
      0x00,        // NULL
      0x01,        // the capabilities themselves
      0x0D, 0x0E,  // scratch memory: one capability for all dwords,
      0x0F,        //
      0x11,        // register access: no capability
      0x12,        // power connector: no capability
  };
  if (always.count(opcode)) return true;
  if (opcode == kAsync && (arg1 == kAsyncPoll || arg1 == 0x0D)) return true;  // clock limits: no capability
  // One capability for all arguments.
  static const std::set<uint8_t>& whole =
      *new std::set<uint8_t>{0x07, 0x0C, 0x14, 0x16, 0x17, 0x1A, 0x1C, 0x1E, 0x20, 0x21, 0x26, 0x28};
  for (const Capability& capability : Capabilities()) {
    const bool is_of_whole = whole.count(opcode) != 0 && capability.opcode == opcode;
    const bool is_temperature = opcode == 0x03 && capability.opcode == 0x02 && capability.arg1 == arg1;
    if (is_of_whole || is_temperature || (capability.opcode == opcode && capability.arg1 == arg1)) return true;
  }
  return false;
}

TEST_P(CapabilitiesTest, EveryCommandThatAnswersIsAnnounced) {
  for (int opcode = 0; opcode < 0x60; ++opcode) {
    for (int arg1 = 0; arg1 < 256; ++arg1) {
      const auto op = static_cast<uint8_t>(opcode), argument = static_cast<uint8_t>(arg1);
      const uint8_t arg2 = op == 0x28 ? 0xFF : 0;
      if (!Answers(op, argument, arg2)) continue;
      EXPECT_TRUE(IsAnnounced(op, argument)) << absl::StrFormat("opcode %02x %02x", opcode, arg1);
    }
  }
}

TEST_P(CapabilitiesTest, TheDriverIsAvailable) { EXPECT_EQ(Dword(2) & 1, 0u) << "which is what a 0 says"; }

INSTANTIATE_TEST_SUITE_P(
    Devices, CapabilitiesTest,
    testing::Values(Kind{"WithLittle", false, std::nullopt}, Kind{"WithEverything", true, std::nullopt},
                    Kind{"BoardV2", true, EccGeneration::kV2}, Kind{"BoardV3", true, EccGeneration::kV3},
                    Kind{"BoardV4", true, EccGeneration::kV4}, Kind{"BoardV5", true, EccGeneration::kV5},
                    Kind{"BoardV6", true, EccGeneration::kV6}),
    [](const auto& info) { return info.param.name; });

constexpr uint8_t kBoardAddress = 0x4F;

TEST(FirmwareTest, OpcodesGoToTheirCommands) {
  FakeDevice device;
  BoardUnit board(device, PowerModel({.idle_mw = 10'000}));
  Firmware firmware(device, board, {.extension = mailbox::ExtensionVersion::kOne});
  EXPECT_EQ(firmware.Execute({.opcode = Opcode::kGetPower}, 0, 0).data, 10'000u);
  EXPECT_EQ(firmware.Execute({.opcode = Opcode::kLatch}, 0, 0).data, 1u);
}

TEST(FirmwareTest, UnknownOpcodes) {
  FakeDevice device;
  BoardUnit board(device, PowerModel({}));
  Firmware firmware(device, board, {.extension = mailbox::ExtensionVersion::kOne});
  for (const int opcode : {0x06, 0x1F, 0x5F, 0x69, 0x6F, 0x70, 0xFF}) {
    EXPECT_EQ(firmware.Execute({.opcode = static_cast<Opcode>(opcode)}, 0, 0).status, MailboxStatus::kErrOpcode)
        << opcode;
  }
}

// Requests and expected replies of public clients, byte by byte on the bus: the golden exchanges of the facts sheet,
// section 7, with a device that has the sheet's values, and error cases.
class GoldenExchangeTest : public testing::Test {
 protected:
  GoldenExchangeTest() {
    bus_.Connect(kBoardAddress, target_);
    gpu_.Count(1, 0, "sm_active_cycles", 404'000'000);  // 50.5 % of 8 SMs in 100 ms at 1 GHz
    gpu_.time_ns = 100'000'000;
  }
  static Bytes FromHex(const std::string& hex) { return ParseHex(hex).value(); }
  void Write(const std::string& hex) {
    EXPECT_EQ(bus_.Execute({{Message::Write(kBoardAddress, FromHex(hex))}}).outcome, smbus::Outcome::kOk) << hex;
  }
  // Reads five bytes of a register.
  std::string Read(uint8_t code) {
    const auto result = bus_.Execute({{Message::Write(kBoardAddress, {code}), Message::Read(kBoardAddress, 5)}});
    return absl::BytesToHexString(std::string(result.read.at(0).begin(), result.read.at(0).end()));
  }
  // Runs a command and returns its status.
  std::string Run(const std::string& hex) {
    Write(hex);
    return Read(0x5C);
  }

  FakeGpu gpu_;
  BoardUnit board_{gpu_, PowerModel({.idle_mw = 123'456, .ambient_c = 45.5, .c_per_watt = 0})};
  Firmware firmware_{gpu_, board_, {.persona = Persona::kNvidia, .extension = mailbox::ExtensionVersion::kOne}};
  MailboxTarget target_{kBoardAddress, firmware_, {.vendor_id = VendorId(Persona::kNvidia)}};
  VirtualBus bus_;
};

TEST_F(GoldenExchangeTest, BootsReady) { EXPECT_EQ(Read(0x5C), "040000001e"); }

// The sheet's device has more sensors; this one announces its own.
TEST_F(GoldenExchangeTest, Capabilities) {
  EXPECT_EQ(Run("5c0401000080"), "040100001f");
  EXPECT_EQ(Read(0x5D), "0401080100");
}

TEST_F(GoldenExchangeTest, Temperature) {
  EXPECT_EQ(Run("5c0402000080"), "040200001f");
  EXPECT_EQ(Read(0x5D), "04002d0000") << "45.0";
  EXPECT_EQ(Run("5c0403000080"), "040300001f");
  EXPECT_EQ(Read(0x5D), "04802d0000") << "45.5";
}

TEST_F(GoldenExchangeTest, Power) {
  EXPECT_EQ(Run("5c0404000080"), "040400001f");
  EXPECT_EQ(Read(0x5D), "0440e20100") << "123,456 mW";
}

TEST_F(GoldenExchangeTest, VendorId) {
  EXPECT_EQ(Run("5c0405090080"), "040509001f");
  EXPECT_EQ(Read(0x5D), "04de100000");
  EXPECT_EQ(Read(0x62).substr(0, 2), "de");
  EXPECT_EQ(Read(0x63).substr(0, 2), "10");
}

TEST_F(GoldenExchangeTest, FirmwareVersion) {
  EXPECT_EQ(Run("5c0405080180"), "040508011f");
  EXPECT_EQ(Read(0x5D), "0430000000") << "1.0.0, from its fifth character on";
}

TEST_F(GoldenExchangeTest, SmActivity) {
  EXPECT_EQ(Run("5c042801ff80"), "042801ff1f") << "granularity 0";
  EXPECT_EQ(Read(0x5D), "0480320000") << "50.5 %";
  EXPECT_EQ(Run("5c042801ffc0"), "048032001f") << "copied into the word";
}

TEST_F(GoldenExchangeTest, ComputeInstance) {
  Write("5d0400010000");
  EXPECT_EQ(Run("5c0428018180"), "042801811f") << "SM activity of partition 1, compute instance 1";
  EXPECT_EQ(Read(0x5D), "0400000000");
}

// Setting a power limit: the exchange is served, the limit itself is not supported.
TEST_F(GoldenExchangeTest, SetLimit) {
  Write("5d0401000000");
  EXPECT_EQ(Run("5c040e000080"), "040e00001f");
  Write("5d0430570500");
  EXPECT_EQ(Run("5c040e010080"), "040e01001f");
  EXPECT_EQ(Run("5c0410010080"), "041001001c") << "accepted";
  const std::string id = Read(0x5D);
  ASSERT_EQ(id, "0401000000");
  EXPECT_EQ(Run("5c0410ff0180"), "0410ff011f");
  EXPECT_EQ(Read(0x5D), "0429000000") << "not supported";
  EXPECT_EQ(Run("5c040d010080"), "040d01001f");
  EXPECT_EQ(Read(0x5D), "0430570500") << "350,000 mW, as it was written";
}

TEST_F(GoldenExchangeTest, Energy) {
  EXPECT_EQ(Run("5c0422000080"), "042200001f");
  EXPECT_EQ(Read(0x5D), "043a300000") << "123.456 W for 100 ms";
  EXPECT_EQ(Read(0x5E), "0400000000");
}

TEST_F(GoldenExchangeTest, EventsAreClearedAsScriptsDo) {
  Write("5d0401000000");
  EXPECT_EQ(Run("5c0411000280"), "041100025f") << "the mask; bit 30 is set from now on";
  EXPECT_EQ(Run("5c0411010180"), "041101015f");
  EXPECT_EQ(Read(0x5D), "0401000000") << "the device was started";
  Write("5d0400000000");
  EXPECT_EQ(Run("5c0411000180"), "041100011f");
}

TEST_F(GoldenExchangeTest, EveryKindOfError) {
  for (const auto& [command, status] : {
           std::pair("5c041f000080", "041f000002"),  // an undefined opcode
           std::pair("5c0401060080", "0401060003"),  // no such dword
           std::pair("5c0401000180", "0401000104"),  // an argument that must be 0
           std::pair("5c0405090480", "0405090404"),  // beyond the item
           std::pair("5c0411020080", "0411020003"),  // neither read nor write
           std::pair("5c0411010380", "0411010304"),  // no such register
           std::pair("5c0402010080", "0402010008"),  // a sensor that this board lacks
           std::pair("5c041b000180", "041b000108"),  // the memory's clock
           std::pair("5c042802ff80", "042802ff08"),  // occupancy
           std::pair("5c04281bff80", "04281bff03"),  // no such metric
           std::pair("5c0428010080", "0428010004"),  // partition 0
           std::pair("5c042841ff80", "042841ff09"),  // nothing was captured
       }) {
    EXPECT_EQ(Run(command), status);
  }
  Write("5d0400020000");
  EXPECT_EQ(Run("5c0428018180"), "0428018105") << "no such compute instance";
  EXPECT_EQ(Run("5c04020000a0"), "0402000001") << "the reserved bit";
}

}  // namespace
}  // namespace sideband::mcu
