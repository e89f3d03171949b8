// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/virtual_bus.h"

#include <gtest/gtest.h>

#include <string>

namespace sideband::mcu {
namespace {

using smbus::Message;
using smbus::Outcome;

// Records its calls; returns 3, 2, 1, 0, …; refuses the byte 0xEE.
class NotingTarget final : public BusTarget {
 public:
  void Start(bool read) override { notes += read ? "R" : "W"; }
  bool Write(uint8_t byte) override {
    notes += std::to_string(byte) + " ";
    return byte != 0xEE;
  }
  uint8_t Read() override { return next_--; }
  void Stop() override { notes += "P"; }

  std::string notes;

 private:
  uint8_t next_ = 3;
};

class VirtualBusTest : public testing::Test {
 protected:
  VirtualBusTest() { bus_.Connect(0x4F, target_); }
  NotingTarget target_;
  VirtualBus bus_;
};

TEST_F(VirtualBusTest, WriteThenRepeatedStartRead) {
  const auto result = bus_.Execute({{Message::Write(0x4F, {7, 8}), Message::Read(0x4F, 2)}});
  EXPECT_EQ(result.outcome, Outcome::kOk);
  EXPECT_EQ(result.read, (std::vector<Bytes>{{3, 2}}));
  EXPECT_EQ(target_.notes, "W7 8 RP");
}

TEST_F(VirtualBusTest, BlockReadClocksWhatTheCountSaysAndTheRest) {
  const auto result = bus_.Execute({{Message::ReadBlock(0x4F, 1)}});
  EXPECT_EQ(result.read, (std::vector<Bytes>{{3, 2, 1, 0, 0xFF}})) << "count, three bytes, one beyond";
}

TEST_F(VirtualBusTest, CountZeroEndsTheTransaction) {
  bus_.Execute({{Message::Read(0x4F, 3)}});
  EXPECT_EQ(bus_.Execute({{Message::ReadBlock(0x4F, 0), Message::Read(0x4F, 1)}}).outcome, Outcome::kBadCount);
}

TEST_F(VirtualBusTest, NobodyAtTheAddress) {
  EXPECT_EQ(bus_.Execute({{Message::Write(0x10, {})}}).outcome, Outcome::kAddressNack);
  EXPECT_EQ(target_.notes, "");
}

TEST_F(VirtualBusTest, ARefusedByteEndsTheTransaction) {
  EXPECT_EQ(bus_.Execute({{Message::Write(0x4F, {1, 0xEE, 2})}}).outcome, Outcome::kDataNack);
  EXPECT_EQ(target_.notes, "W1 238 P");
}

TEST_F(VirtualBusTest, AnEmptyWriteProbes) {
  EXPECT_EQ(bus_.Execute({{Message::Write(0x4F, {})}}).outcome, Outcome::kOk);
}

}  // namespace
}  // namespace sideband::mcu
