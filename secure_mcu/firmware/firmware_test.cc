// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/firmware.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/escaping.h"
#include "proto/base/bytes.h"
#include "proto/smbus/transfer.h"
#include "secure_mcu/firmware/fake_device.h"
#include "secure_mcu/firmware/fake_gpu.h"
#include "secure_mcu/firmware/mailbox_target.h"
#include "secure_mcu/firmware/virtual_bus.h"

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;
using mailbox::Opcode;
using smbus::Message;

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
