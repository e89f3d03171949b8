// SPDX-License-Identifier: Apache-2.0
#include "sim/i2cdev/smbus_protocol.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

namespace sideband::i2cdev {
namespace {

using smbus::Message;
using smbus::Transfer;

constexpr bool kRead = true, kWrite = false;

SmbusRequest Request(uint32_t size, bool read, bool pec = false) {
  return {.address = 0x4F, .read = read, .command = 0x5C, .size = size, .pec = pec};
}

i2c_smbus_data Block(const Bytes& bytes) {
  i2c_smbus_data data = {};
  data.block[0] = static_cast<uint8_t>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), data.block + 1);
  return data;
}

Transfer Made(const SmbusRequest& request, const i2c_smbus_data& data) {
  Transfer transfer;
  EXPECT_EQ(ToTransfer(request, data, transfer), 0);
  return transfer;
}

TEST(SmbusProtocolTest, MessagesOfEverySize) {
  const i2c_smbus_data word = {.word = 0x1234}, block = Block({0x02, 0x00, 0x00, 0x80});
  const Message code = Message::Write(0x4F, {0x5C});
  const struct {
    uint32_t size;
    bool read;
    i2c_smbus_data data;
    Transfer transfer;
  } kCases[] = {
      {I2C_SMBUS_QUICK, kWrite, {}, {{Message::Write(0x4F, {})}}},
      {I2C_SMBUS_QUICK, kRead, {}, {{Message::Read(0x4F, 0)}}},
      {I2C_SMBUS_BYTE, kWrite, {}, {{code}}},
      {I2C_SMBUS_BYTE, kRead, {}, {{Message::Read(0x4F, 1)}}},
      {I2C_SMBUS_BYTE_DATA, kWrite, word, {{Message::Write(0x4F, {0x5C, 0x34})}}},
      {I2C_SMBUS_BYTE_DATA, kRead, {}, {{code, Message::Read(0x4F, 1)}}},
      {I2C_SMBUS_WORD_DATA, kWrite, word, {{Message::Write(0x4F, {0x5C, 0x34, 0x12})}}},
      {I2C_SMBUS_WORD_DATA, kRead, {}, {{code, Message::Read(0x4F, 2)}}},
      {I2C_SMBUS_BLOCK_DATA, kWrite, block, {{Message::Write(0x4F, {0x5C, 4, 2, 0, 0, 0x80})}}},
      {I2C_SMBUS_BLOCK_DATA, kRead, {}, {{code, Message::ReadBlock(0x4F, 0)}}},
      {I2C_SMBUS_I2C_BLOCK_DATA, kWrite, block, {{Message::Write(0x4F, {0x5C, 2, 0, 0, 0x80})}}},
      {I2C_SMBUS_I2C_BLOCK_DATA, kRead, block, {{code, Message::Read(0x4F, 4)}}},
  };
  for (const auto& test : kCases) {
    EXPECT_EQ(Made(Request(test.size, test.read), test.data), test.transfer) << test.size << " " << test.read;
  }
}

// The frames of the facts sheet, 6.4: GET_TEMP 56, its status 6f.
TEST(SmbusProtocolTest, PecOfABlock) {
  EXPECT_EQ(Made(Request(I2C_SMBUS_BLOCK_DATA, kWrite, /*pec=*/true), Block({2, 0, 0, 0x80})),
            (Transfer{{Message::Write(0x4F, {0x5C, 4, 2, 0, 0, 0x80, 0x56})}}));
  const SmbusRequest read = Request(I2C_SMBUS_BLOCK_DATA, kRead, /*pec=*/true);
  EXPECT_EQ(Made(read, {}), (Transfer{{Message::Write(0x4F, {0x5C}), Message::ReadBlock(0x4F, 1)}}));
  i2c_smbus_data data = {};
  EXPECT_EQ(FromAnswer(read, {4, 2, 0, 0, 0x1F, 0x6F}, data), 0);
  EXPECT_EQ(Bytes(data.block, data.block + 5), (Bytes{4, 2, 0, 0, 0x1F}));
  EXPECT_EQ(FromAnswer(read, {4, 2, 0, 0, 0x1F, 0x6E}, data), EBADMSG);
}

TEST(SmbusProtocolTest, PecOfTheShortOnes) {
  EXPECT_EQ(Made(Request(I2C_SMBUS_BYTE, kWrite, true), {}).messages[0].write_bytes.size(), 2u);
  EXPECT_EQ(Made(Request(I2C_SMBUS_BYTE_DATA, kWrite, true), {.byte = 0x34}).messages[0].write_bytes.size(), 3u);
  EXPECT_EQ(Made(Request(I2C_SMBUS_BYTE, kRead, true), {}).messages[0].read_size, 2);
  EXPECT_EQ(Made(Request(I2C_SMBUS_WORD_DATA, kRead, true), {}).messages[1].read_size, 3);
}

TEST(SmbusProtocolTest, QuickAndI2cBlockHaveNoPec) {
  for (const uint32_t size : {I2C_SMBUS_QUICK, I2C_SMBUS_I2C_BLOCK_DATA}) {
    for (const bool read : {kRead, kWrite}) {
      EXPECT_EQ(Made(Request(size, read, true), Block({1})), Made(Request(size, read, false), Block({1})));
    }
  }
}

TEST(SmbusProtocolTest, AnswersOfEverySize) {
  i2c_smbus_data data = {};
  EXPECT_EQ(FromAnswer(Request(I2C_SMBUS_QUICK, kRead), {}, data), 0);
  EXPECT_EQ(FromAnswer(Request(I2C_SMBUS_BYTE, kRead), {0xAA}, data), 0);
  EXPECT_EQ(data.byte, 0xAA);
  EXPECT_EQ(FromAnswer(Request(I2C_SMBUS_BYTE_DATA, kRead), {0xBB}, data), 0);
  EXPECT_EQ(data.byte, 0xBB);
  EXPECT_EQ(FromAnswer(Request(I2C_SMBUS_WORD_DATA, kRead), {0x34, 0x12}, data), 0);
  EXPECT_EQ(data.word, 0x1234);
  data = Block({0, 0});
  EXPECT_EQ(FromAnswer(Request(I2C_SMBUS_I2C_BLOCK_DATA, kRead), {7, 8}, data), 0);
  EXPECT_EQ(Bytes(data.block, data.block + 3), (Bytes{2, 7, 8}));
}

TEST(SmbusProtocolTest, ABlocksCountIsFrom1To32) {
  const SmbusRequest read = Request(I2C_SMBUS_BLOCK_DATA, kRead);
  i2c_smbus_data data = {};
  Bytes longest(33, 0xCC), too_long(34, 0xCC);
  longest[0] = 32;
  too_long[0] = 33;
  EXPECT_EQ(FromAnswer(read, {1, 9}, data), 0);
  EXPECT_EQ(FromAnswer(read, longest, data), 0);
  EXPECT_EQ(FromAnswer(read, too_long, data), EPROTO);
  EXPECT_EQ(FromAnswer(read, {0}, data), EPROTO);
  EXPECT_EQ(FromAnswer(read, {}, data), EIO);
}

TEST(SmbusProtocolTest, AnswersOfAnotherLengthAreErrors) {
  i2c_smbus_data data = Block({0});
  EXPECT_EQ(FromAnswer(Request(I2C_SMBUS_BLOCK_DATA, kRead), {4, 1, 2}, data), EIO);
  EXPECT_EQ(FromAnswer(Request(I2C_SMBUS_BLOCK_DATA, kRead), {1, 1, 2}, data), EIO);
  EXPECT_EQ(FromAnswer(Request(I2C_SMBUS_BYTE, kRead, true), {1}, data), EIO);
  EXPECT_EQ(FromAnswer(Request(I2C_SMBUS_WORD_DATA, kRead), {}, data), EIO);
  EXPECT_EQ(FromAnswer(Request(I2C_SMBUS_I2C_BLOCK_DATA, kRead), {}, data), EIO);
}

TEST(SmbusProtocolTest, WhatIsRefused) {
  Transfer transfer;
  i2c_smbus_data too_long = {};
  too_long.block[0] = 33;
  for (const bool read : {kRead, kWrite}) {
    for (const uint32_t size : {I2C_SMBUS_PROC_CALL, I2C_SMBUS_BLOCK_PROC_CALL}) {
      EXPECT_EQ(ToTransfer(Request(size, read), {}, transfer), EOPNOTSUPP);
    }
    for (const uint32_t size : {9u, 0xFFFFFFFFu}) EXPECT_EQ(ToTransfer(Request(size, read), {}, transfer), EINVAL);
    EXPECT_EQ(ToTransfer(Request(I2C_SMBUS_I2C_BLOCK_DATA, read), too_long, transfer), EINVAL);
  }
  EXPECT_EQ(ToTransfer(Request(I2C_SMBUS_BLOCK_DATA, kWrite), too_long, transfer), EINVAL);
  EXPECT_TRUE(transfer.messages.empty());
}

}  // namespace
}  // namespace sideband::i2cdev
