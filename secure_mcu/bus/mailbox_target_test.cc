// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/bus/mailbox_target.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/escaping.h"
#include "proto/smbus/pec.h"
#include "secure_mcu/bus/virtual_bus.h"

namespace sideband::mcu {
namespace {

using smbus::Message;

constexpr uint8_t kAddress = 0x4F;

// Answers opcode 2 with 45 degrees, opcode 3 with the data that it was given; the windows are "abc" and nothing.
class FakeHandler final : public CommandHandler {
 public:
  Reply Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) override {
    ++commands;
    switch (static_cast<uint8_t>(command.opcode)) {
      case 2:
        return {.data = 0x2D00};
      case 3:
        return {.data = data, .extended_data = extended_data};
      default:
        return {.status = mailbox::MailboxStatus::kErrOpcode};
    }
  }
  ByteSpan Window(uint8_t index) const override { return index == 0 ? AsBytes(text_) : ByteSpan(); }

  int commands = 0;

 private:
  const std::string text_ = "abc";
};

class MailboxTargetTest : public testing::Test {
 protected:
  MailboxTargetTest() : target_(kAddress, handler_) { bus_.Connect(kAddress, target_); }

  static Bytes FromHex(const std::string& hex) {
    const std::string raw = absl::HexStringToBytes(hex);
    return Bytes(raw.begin(), raw.end());
  }
  void Write(const std::string& hex) { bus_.Execute({{Message::Write(kAddress, FromHex(hex))}}); }
  // Command code, repeated START, read.
  std::string Read(uint8_t code, uint16_t size) {
    return Hex(bus_.Execute({{Message::Write(kAddress, {code}), Message::Read(kAddress, size)}}).read.at(0));
  }
  static std::string Hex(const Bytes& bytes) { return absl::BytesToHexString(std::string(bytes.begin(), bytes.end())); }

  FakeHandler handler_;
  MailboxTarget target_;
  VirtualBus bus_;
};

TEST_F(MailboxTargetTest, BootsReady) { EXPECT_EQ(Read(0x5C, 5), "040000001e"); }

// The golden exchange of the facts sheet, section 7.
TEST_F(MailboxTargetTest, GetTemp) {
  Write("5c0402000080");
  EXPECT_EQ(Read(0x5C, 5), "040200001f");
  EXPECT_EQ(Read(0x5D, 5), "04002d0000");
}

TEST_F(MailboxTargetTest, SuppliesThePecWhenClocked) {
  Write("5c0402000080");
  EXPECT_EQ(Read(0x5C, 6), "040200001f6f") << "the code of the facts sheet, 6.4";
  EXPECT_EQ(Read(0x5D, 8), "04002d000013ffff") << "nothing after it";
  EXPECT_EQ(Read(0x5D, 2), "0400") << "short reads are allowed";
}

TEST_F(MailboxTargetTest, APecOnAWriteIsChecked) {
  Write("5c040200008056");
  EXPECT_EQ(handler_.commands, 1);
  Write("5c040200008057");
  EXPECT_EQ(handler_.commands, 1) << "discarded";
  EXPECT_EQ(target_.pec_errors(), 1u);
  EXPECT_EQ(Read(0x5C, 5), "040200001f") << "the status before it stays";
}

TEST_F(MailboxTargetTest, TheCommandCodeOutlivesStop) {
  Write("5c");
  const auto result = bus_.Execute({{Message::Read(kAddress, 5)}});
  EXPECT_EQ(Hex(result.read.at(0)), "040000001e");
}

TEST_F(MailboxTargetTest, DataInReachesTheCommandAndDataOutReplacesIt) {
  Write("5d0478563412");
  Write("5e0401000000");
  EXPECT_EQ(Read(0x5C, 5), "040000001e") << "a data write does not disturb the status";
  Write("5c0403000080");
  EXPECT_EQ(Read(0x5D, 5), "0478563412");
  EXPECT_EQ(Read(0x5E, 5), "0401000000");
}

TEST_F(MailboxTargetTest, CopyDataReturnsDataInTheWord) {
  Write("5c04020000c0");
  EXPECT_EQ(Read(0x5C, 5), "04002d001f");
}

TEST_F(MailboxTargetTest, WithoutTheExecuteBitNothingRuns) {
  Write("5c0402000000");
  EXPECT_EQ(handler_.commands, 0);
}

TEST_F(MailboxTargetTest, TheReservedBitIsAnError) {
  Write("5c04020000a0");
  EXPECT_EQ(handler_.commands, 0);
  EXPECT_EQ(Read(0x5C, 5), "0402000001");
}

TEST_F(MailboxTargetTest, UnknownOpcodeEchoesItself) {
  Write("5c041f010280");
  EXPECT_EQ(Read(0x5C, 5), "041f010202");
}

TEST_F(MailboxTargetTest, MalformedWritesAreErrorsOnTheNextStatus) {
  for (const char* hex : {
           "5c03020000",        // count 3
           "5c04020000",        // a byte short
           "5c0402000080aabb",  // bytes beyond the PEC
           "5c0502000080",      // count 5
           "990400000000",      // no such register
       }) {
    Write("5c0402000080");
    const int before = handler_.commands;
    Write(hex);
    EXPECT_EQ(Read(0x5C, 5), "0400000001") << hex;
    EXPECT_EQ(handler_.commands, before) << hex;
  }
}

TEST_F(MailboxTargetTest, OverlongWriteIsRefused) {
  EXPECT_EQ(bus_.Execute({{Message::Write(kAddress, Bytes(259))}}).outcome, smbus::Outcome::kDataNack);
}

TEST_F(MailboxTargetTest, WindowsAreBlocksWithPec) {
  const auto result = bus_.Execute({{Message::Write(kAddress, {0xD0}), Message::ReadBlock(kAddress, 1)}});
  EXPECT_EQ(result.outcome, smbus::Outcome::kOk);
  EXPECT_EQ(smbus::Pec(FromHex("9ed09f" + Hex(result.read[0]))), 0) << "a right transaction sums to zero";
  EXPECT_EQ(Hex(result.read[0]).substr(0, 8), "03616263");
  EXPECT_EQ(bus_.Execute({{Message::Write(kAddress, {0xDF}), Message::ReadBlock(kAddress, 1)}}).outcome,
            smbus::Outcome::kBadCount)
      << "nothing in that window";
}

TEST_F(MailboxTargetTest, UnknownCodesReadAsAnIdleBus) { EXPECT_EQ(Read(0x42, 3), "ffffff"); }

}  // namespace
}  // namespace sideband::mcu
