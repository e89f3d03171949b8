// SPDX-License-Identifier: Apache-2.0
#include "daemon/transport/smbus_shape.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace sideband::daemon
