// SPDX-License-Identifier: Apache-2.0
//
// The daemon's transport for /dev/i2c-N and its registers, through the rules of i2c-dev (sim/bus), against the
// microcontroller's mailbox: with an adapter that supports I2C messages, and with one that supports SMBus only.
#include <gtest/gtest.h>

#include <cerrno>

#include "daemon/mailbox/register_port.h"
#include "daemon/transport/bus_transport.h"
#include "proto/mailbox/extension.h"
#include "proto/smbus/bus_name.h"
#include "secure_mcu/firmware/mailbox_target.h"
#include "sim/bus/virtual_adapter.h"

namespace sideband::tests {
namespace {

constexpr int kFd = 5;

// GET_TEMP returns 45 degrees; window 0 has 32 bytes, window 1 has 255.
class FakeHandler final : public mcu::CommandHandler {
 public:
  Reply Execute(const mailbox::CommandWord& command, uint32_t, uint32_t) override {
    if (command.opcode != mailbox::Opcode::kGetTemp) return {.status = mailbox::MailboxStatus::kErrOpcode};
    return {.data = 0x2D00};
  }
  ByteSpan Window(uint8_t index) const override { return index == 0 ? ByteSpan(bytes_).first(32) : ByteSpan(bytes_); }

 private:
  const Bytes bytes_ = Bytes(255, 0x42);
};

// i2c-dev on a virtual bus. Bytes read can be corrupted.
class VirtualI2cDev final : public daemon::I2cDev {
 public:
  VirtualI2cDev(mcu::VirtualBus& bus, bool smbus_only) : bus_(bus), adapter_({.smbus_only = smbus_only}) {}
  int Open(const std::string& path) override { return path == "/dev/i2c-3" ? kFd : -ENOENT; }
  void Close(int) override {}
  int Ioctl(int fd, unsigned long request, unsigned long argument) override {
    EXPECT_EQ(fd, kFd);
    return adapter_.Ioctl(request, argument, [this](const smbus::Transfer& transfer) {
      smbus::TransferResult result = bus_.Execute(transfer);
      if (spoiled > 0 && !result.read.empty()) {
        --spoiled;
        result.read[0].back() ^= 0x10;  // of the PEC
      }
      return result;
    });
  }
  int spoiled = 0;

 private:
  mcu::VirtualBus& bus_;
  i2cdev::VirtualAdapter adapter_;
};

class I2cDevTest : public testing::TestWithParam<bool> {
 protected:
  I2cDevTest() { bus_.Connect(smbus::kMailboxAddress, target_); }

  FakeHandler handler_;
  mcu::MailboxTarget target_{smbus::kMailboxAddress, handler_};
  mcu::VirtualBus bus_;
  VirtualI2cDev dev_{bus_, GetParam()};
  daemon::I2cDevTransport transport_{"/dev/i2c-3", dev_, {}};
  std::string outcomes_;
  daemon::RegisterPort port_{transport_, smbus::kMailboxAddress,
                             [this](absl::string_view outcome) { outcomes_ += std::string(outcome) + " "; }};
};

INSTANTIATE_TEST_SUITE_P(Adapters, I2cDevTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "SmbusOnly" : "Messages"; });

TEST_P(I2cDevTest, ACommand) {
  ASSERT_EQ(port_.Write(mailbox::kCommandRegister, 0x80000002), absl::OkStatus());
  EXPECT_EQ(*port_.Read(mailbox::kCommandRegister), 0x1F000002u);
  EXPECT_EQ(*port_.Read(mailbox::kDataRegister), 0x2D00u);
  EXPECT_EQ(outcomes_, "ok ok ok ");
  EXPECT_EQ(target_.pec_errors(), 0u);
}

TEST_P(I2cDevTest, Windows) {
  EXPECT_EQ(*port_.ReadBlock(mailbox::kWindowFirst, 32), Bytes(32, 0x42));
  EXPECT_EQ(transport_.block_bytes_max(), GetParam() ? 32u : 255u);
  const auto long_one = port_.ReadBlock(mailbox::kWindowFirst + 1, 255);
  if (GetParam()) {
    EXPECT_EQ(long_one.status().code(), absl::StatusCode::kUnimplemented);
  } else {
    EXPECT_EQ(*long_one, Bytes(255, 0x42));
  }
}

TEST_P(I2cDevTest, AWrongPecIsFoundAndTheReadRepeated) {
  dev_.spoiled = 2;
  EXPECT_EQ(*port_.Read(mailbox::kCommandRegister), mailbox::kBootWord);
  EXPECT_EQ(outcomes_, "bad_pec bad_pec ok ");
  dev_.spoiled = 100;
  EXPECT_EQ(port_.Read(mailbox::kCommandRegister).status().code(), absl::StatusCode::kDataLoss);
}

TEST_P(I2cDevTest, ABlockOfAnotherLengthIsFound) {
  EXPECT_EQ(port_.ReadBlock(mailbox::kWindowFirst, 31).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(port_.ReadBlock(mailbox::kCommandRegister, 5).status().code(), absl::StatusCode::kDataLoss);
}

TEST_P(I2cDevTest, NobodyAtTheAddress) {
  daemon::RegisterPort nobody(transport_, 0x4E, [](absl::string_view) {});
  EXPECT_EQ(nobody.Read(mailbox::kCommandRegister).status().message(),
            "device at 0x4e: no device answers at the address");
  EXPECT_EQ(nobody.Write(mailbox::kDataRegister, 1).code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace sideband::tests
