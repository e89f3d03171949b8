// SPDX-License-Identifier: Apache-2.0
#include "sim/bus/virtual_adapter.h"

#include <gtest/gtest.h>
#include <linux/i2c-dev.h>
#include <linux/i2c.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <deque>
#include <string>

namespace sideband::i2cdev {
namespace {

using smbus::Message;
using smbus::Outcome;
using smbus::Transfer;
using smbus::TransferResult;

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

constexpr size_t kPage = 4096;

class UserMemoryTest : public testing::Test {
 protected:
  // Two pages, the second with `protection`.
  char* Map(int protection) {
    char* const memory =
        static_cast<char*>(mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_EQ(mprotect(memory + kPage, kPage, protection), 0);
    mapped_ = memory;
    return memory;
  }
  void TearDown() override {
    if (mapped_ != nullptr) munmap(mapped_, 2 * kPage);
  }
  char buffer_[16] = "fifteen letters";

 private:
  char* mapped_ = nullptr;
};

TEST_F(UserMemoryTest, Copies) {
  char* const memory = Map(PROT_READ | PROT_WRITE);
  EXPECT_TRUE(CopyOut(memory, buffer_, sizeof(buffer_)));
  char back[sizeof(buffer_)] = {};
  EXPECT_TRUE(CopyIn(back, memory, sizeof(back)));
  EXPECT_EQ(std::string(back), buffer_);
}

TEST_F(UserMemoryTest, NullIsRefusedUnlessNothingIsCopied) {
  EXPECT_FALSE(CopyIn(buffer_, nullptr, 1));
  EXPECT_FALSE(CopyOut(nullptr, buffer_, 1));
  EXPECT_TRUE(CopyIn(buffer_, nullptr, 0));
}

TEST_F(UserMemoryTest, WhatIsNotMappedIsRefused) {
  char* const memory = Map(PROT_NONE);
  EXPECT_FALSE(CopyIn(buffer_, memory + kPage - 8, 16)) << "half of it is mapped";
  EXPECT_FALSE(CopyOut(memory + kPage, buffer_, 16));
  EXPECT_FALSE(CopyIn(buffer_, reinterpret_cast<void*>(1), 16));
  EXPECT_TRUE(CopyIn(buffer_, memory + kPage - 16, 16)) << "up to the last byte";
}

TEST_F(UserMemoryTest, WhatMayNotBeWrittenIsRefused) {
  char* const memory = Map(PROT_READ);
  EXPECT_TRUE(CopyIn(buffer_, memory + kPage, 16));
  EXPECT_FALSE(CopyOut(memory + kPage, buffer_, 16));
}

// The ioctls of i2c-dev on a bus with prepared answers.
class VirtualAdapterTest : public testing::Test {
 protected:
  int Ioctl(unsigned long request, unsigned long argument) { return adapter_.Ioctl(request, argument, carry_); }
  int Ioctl(unsigned long request, void* argument) { return Ioctl(request, reinterpret_cast<unsigned long>(argument)); }
  int ReadWrite(std::vector<i2c_msg> messages) {
    i2c_rdwr_ioctl_data request = {messages.data(), static_cast<uint32_t>(messages.size())};
    return Ioctl(I2C_RDWR, &request);
  }
  int Smbus(uint8_t read_write, uint32_t size, i2c_smbus_data* data) {
    i2c_smbus_ioctl_data call = {read_write, 0x5C, size, data};
    return Ioctl(I2C_SMBUS, &call);
  }

  std::vector<Transfer> carried_;
  std::deque<absl::StatusOr<TransferResult>> answers_;
  const VirtualAdapter::Carry carry_ = [this](const Transfer& transfer) -> absl::StatusOr<TransferResult> {
    carried_.push_back(transfer);
    if (answers_.empty()) return TransferResult();
    auto answer = answers_.front();
    answers_.pop_front();
    return answer;
  };
  VirtualAdapter adapter_{{}};
};

TEST_F(VirtualAdapterTest, KnowsTheRequestsOfI2cDev) {
  for (unsigned long request = 0; request <= 0xFFFF; ++request) {
    const bool is_i2c = (request >= I2C_RETRIES && request <= I2C_PEC) || request == I2C_SMBUS;
    EXPECT_EQ(VirtualAdapter::Knows(request), is_i2c) << request;
  }
  EXPECT_EQ(Ioctl(0x5401, 0ul), -ENOTTY);
}

TEST_F(VirtualAdapterTest, Functionality) {
  unsigned long functionality = 0;
  EXPECT_EQ(Ioctl(I2C_FUNCS, &functionality), 0);
  EXPECT_EQ(functionality, 0x0F7F0009ul);
  EXPECT_EQ(Ioctl(I2C_FUNCS, 0ul), -EFAULT);
  VirtualAdapter smbus_only({.smbus_only = true});
  EXPECT_EQ(smbus_only.Ioctl(I2C_FUNCS, reinterpret_cast<unsigned long>(&functionality), carry_), 0);
  EXPECT_EQ(functionality & I2C_FUNC_I2C, 0ul);
}

TEST_F(VirtualAdapterTest, PlainNumbers) {
  const struct {
    unsigned long request, argument;
    int result;
  } kCases[] = {
      {I2C_SLAVE, 0x7F, 0},
      {I2C_SLAVE, 0x80, -EINVAL},
      {I2C_SLAVE_FORCE, 0, 0},
      {I2C_SLAVE_FORCE, ULONG_MAX, -EINVAL},
      {I2C_TENBIT, 0, 0},
      {I2C_TENBIT, 1, -EINVAL},
      {I2C_PEC, 1, 0},
      {I2C_TIMEOUT, 100, 0},
      {I2C_TIMEOUT, ULONG_MAX, -EINVAL},
      {I2C_RETRIES, 3, 0},
      {I2C_RETRIES, ULONG_MAX, -EINVAL},
  };
  for (const auto& test : kCases) EXPECT_EQ(Ioctl(test.request, test.argument), test.result) << test.request;
}

TEST_F(VirtualAdapterTest, WriteThenRead) {
  uint8_t code = 0x5C, answer[6] = {};
  answers_ = {TransferResult{.read = {{4, 2, 0, 0, 0x1F, 0x6F}}}};
  EXPECT_EQ(ReadWrite({{0x4F, 0, 1, &code}, {0x4F, I2C_M_RD, 6, answer}}), 2);
  EXPECT_EQ(carried_[0], (Transfer{{Message::Write(0x4F, {0x5C}), Message::Read(0x4F, 6)}}));
  EXPECT_EQ(Bytes(answer, answer + 6), (Bytes{4, 2, 0, 0, 0x1F, 0x6F}));
}

TEST_F(VirtualAdapterTest, ACountedRead) {
  uint8_t code = 0x5C, answer[34] = {2};  // count and PEC in addition to the block
  answers_ = {TransferResult{.read = {{4, 2, 0, 0, 0x1F, 0x6F}}}};
  EXPECT_EQ(ReadWrite({{0x4F, 0, 1, &code}, {0x4F, I2C_M_RD | I2C_M_RECV_LEN, 34, answer}}), 2);
  EXPECT_EQ(carried_[0].messages[1], Message::ReadBlock(0x4F, 1));
  EXPECT_EQ(answer[5], 0x6F);
}

TEST_F(VirtualAdapterTest, ACountAbove32IsAProtocolError) {
  uint8_t answer[33] = {1};
  answers_ = {TransferResult{.read = {Bytes(34, 33)}}};
  EXPECT_EQ(ReadWrite({{0x4F, I2C_M_RD | I2C_M_RECV_LEN, 33, answer}}), -EPROTO);
}

TEST_F(VirtualAdapterTest, ACountedReadNeedsRoom) {
  uint8_t answer[40] = {};
  const auto try_it = [&](uint8_t besides, uint16_t size, uint16_t flags) {
    answer[0] = besides;
    return ReadWrite({{0x4F, flags, size, answer}});
  };
  EXPECT_EQ(try_it(1, 32, I2C_M_RD | I2C_M_RECV_LEN), -EINVAL) << "a byte short";
  EXPECT_EQ(try_it(2, 33, I2C_M_RD | I2C_M_RECV_LEN), -EINVAL);
  EXPECT_EQ(try_it(0, 40, I2C_M_RD | I2C_M_RECV_LEN), -EINVAL) << "without the count";
  EXPECT_EQ(try_it(1, 0, I2C_M_RD | I2C_M_RECV_LEN), -EINVAL);
  EXPECT_EQ(try_it(1, 40, I2C_M_RECV_LEN), -EINVAL) << "a write";
  EXPECT_TRUE(carried_.empty());
}

TEST_F(VirtualAdapterTest, LimitsOfMessages) {
  uint8_t byte = 0;
  std::vector<uint8_t> longest(8192), too_long(8193);
  EXPECT_EQ(ReadWrite(std::vector<i2c_msg>(42, {0x4F, 0, 1, &byte})), 42);
  EXPECT_EQ(ReadWrite(std::vector<i2c_msg>(43, {0x4F, 0, 1, &byte})), -EINVAL);
  EXPECT_EQ(ReadWrite({{0x4F, 0, 8192, longest.data()}}), 1);
  EXPECT_EQ(ReadWrite({{0x4F, 0, 8193, too_long.data()}}), -EINVAL);
  EXPECT_EQ(ReadWrite({{0x80, 0, 1, &byte}}), -EINVAL);
  EXPECT_EQ(ReadWrite({{0x4F, I2C_M_TEN, 1, &byte}}), -EOPNOTSUPP);
  EXPECT_EQ(ReadWrite({}), -EINVAL);
  i2c_rdwr_ioctl_data none = {nullptr, 1};
  EXPECT_EQ(Ioctl(I2C_RDWR, &none), -EINVAL);
}

TEST_F(VirtualAdapterTest, BadPointersAreFaults) {
  const auto nowhere = reinterpret_cast<uint8_t*>(8);
  EXPECT_EQ(Ioctl(I2C_RDWR, 0ul), -EFAULT);
  EXPECT_EQ(Ioctl(I2C_RDWR, nowhere), -EFAULT);
  EXPECT_EQ(Ioctl(I2C_SMBUS, 0ul), -EFAULT);
  EXPECT_EQ(Ioctl(I2C_SMBUS, nowhere), -EFAULT);
  i2c_rdwr_ioctl_data messages = {reinterpret_cast<i2c_msg*>(nowhere), 2};
  EXPECT_EQ(Ioctl(I2C_RDWR, &messages), -EFAULT);
  EXPECT_EQ(ReadWrite({{0x4F, 0, 4, nullptr}}), -EFAULT);
  EXPECT_EQ(ReadWrite({{0x4F, 0, 4, nowhere}}), -EFAULT);
  EXPECT_EQ(Smbus(I2C_SMBUS_WRITE, I2C_SMBUS_BLOCK_DATA, reinterpret_cast<i2c_smbus_data*>(nowhere)), -EFAULT);
  EXPECT_TRUE(carried_.empty());
  answers_ = {TransferResult{.read = {{1}}}, TransferResult{.read = {{1}}}};
  EXPECT_EQ(ReadWrite({{0x4F, I2C_M_RD, 1, nullptr}}), -EFAULT);
  EXPECT_EQ(adapter_.Read(nullptr, 1, carry_), -EFAULT);
  EXPECT_EQ(adapter_.Write(nullptr, 1, carry_), -EFAULT);
}

TEST_F(VirtualAdapterTest, ErrorsOfTheWire) {
  const struct {
    absl::StatusOr<TransferResult> answer;
    int result;
  } kCases[] = {
      {TransferResult{.outcome = Outcome::kAddressNack}, -ENXIO},
      {TransferResult{.outcome = Outcome::kDataNack}, -EIO},
      {TransferResult{.outcome = Outcome::kArbitrationLost}, -EAGAIN},
      {TransferResult{.outcome = Outcome::kTimeout}, -ETIMEDOUT},
      {TransferResult{.outcome = Outcome::kBadCount}, -EPROTO},
      {absl::DeadlineExceededError(""), -ETIMEDOUT},
      {absl::UnavailableError(""), -ENODEV},
      {absl::InvalidArgumentError("rubbish"), -EIO},
      {TransferResult{.read = {{1}}, .stretch_us = 1'000'001}, -ETIMEDOUT},
      {TransferResult{.read = {{1}}, .stretch_us = 1'000'000}, 1},
  };
  uint8_t byte = 0;
  for (const auto& test : kCases) {
    answers_ = {test.answer};
    EXPECT_EQ(ReadWrite({{0x4F, I2C_M_RD, 1, &byte}}), test.result);
  }
}

TEST_F(VirtualAdapterTest, ResultsThatDoNotFitAreErrors) {
  uint8_t bytes[40] = {1};
  for (const TransferResult& result :
       {TransferResult{}, TransferResult{.read = {{}}}, TransferResult{.read = {{1, 2, 3}}},
        TransferResult{.read = {{1, 2}, {3, 4}}}, TransferResult{.read = {Bytes(8192)}}}) {
    answers_ = {result, result, result};
    EXPECT_EQ(ReadWrite({{0x4F, I2C_M_RD, 2, bytes}}), -EIO);
    EXPECT_EQ(adapter_.Read(bytes, 2, carry_), -EIO);
    bytes[0] = 1;
    EXPECT_EQ(ReadWrite({{0x4F, I2C_M_RD | I2C_M_RECV_LEN, 40, bytes}}) < 0, true);
  }
}

TEST_F(VirtualAdapterTest, LostArbitrationIsTriedAgainAsOftenAsWasAsked) {
  uint8_t byte = 0;
  answers_ = {TransferResult{.outcome = Outcome::kArbitrationLost},
              TransferResult{.outcome = Outcome::kArbitrationLost}, TransferResult{}};
  EXPECT_EQ(Ioctl(I2C_RETRIES, 2), 0);
  EXPECT_EQ(ReadWrite({{0x4F, 0, 1, &byte}}), 1);
  EXPECT_EQ(carried_.size(), 3u);
  answers_.assign(1000, TransferResult{.outcome = Outcome::kArbitrationLost});
  carried_.clear();
  EXPECT_EQ(Ioctl(I2C_RETRIES, INT_MAX), 0);
  EXPECT_EQ(ReadWrite({{0x4F, 0, 1, &byte}}), -EAGAIN);
  EXPECT_LT(carried_.size(), 1000u);
}

TEST_F(VirtualAdapterTest, SmbusBlocksWithPec) {
  ASSERT_EQ(Ioctl(I2C_SLAVE, 0x4F), 0);
  ASSERT_EQ(Ioctl(I2C_PEC, 1), 0);
  i2c_smbus_data data = {};
  const Bytes block = {4, 2, 0, 0, 0x80};
  std::copy(block.begin(), block.end(), data.block);
  EXPECT_EQ(Smbus(I2C_SMBUS_WRITE, I2C_SMBUS_BLOCK_DATA, &data), 0);
  EXPECT_EQ(carried_[0], (Transfer{{Message::Write(0x4F, {0x5C, 4, 2, 0, 0, 0x80, 0x56})}}));
  answers_ = {TransferResult{.read = {{4, 2, 0, 0, 0x1F, 0x6F}}}, TransferResult{.read = {{4, 2, 0, 0, 0x1F, 0x00}}}};
  EXPECT_EQ(Smbus(I2C_SMBUS_READ, I2C_SMBUS_BLOCK_DATA, &data), 0);
  EXPECT_EQ(data.block[4], 0x1F);
  EXPECT_EQ(Smbus(I2C_SMBUS_READ, I2C_SMBUS_BLOCK_DATA, &data), -EBADMSG);
}

TEST_F(VirtualAdapterTest, TheOldFormOfI2cBlocks) {
  ASSERT_EQ(Ioctl(I2C_SLAVE, 0x4F), 0);
  i2c_smbus_data data = {.block = {2, 7, 8}};
  EXPECT_EQ(Smbus(I2C_SMBUS_WRITE, I2C_SMBUS_I2C_BLOCK_BROKEN, &data), 0);
  EXPECT_EQ(carried_[0], (Transfer{{Message::Write(0x4F, {0x5C, 7, 8})}}));
  answers_ = {TransferResult{.read = {Bytes(32, 9)}}};
  EXPECT_EQ(Smbus(I2C_SMBUS_READ, I2C_SMBUS_I2C_BLOCK_BROKEN, &data), 0);
  EXPECT_EQ(data.block[0], 32) << "always all of them";
  EXPECT_EQ(data.block[32], 9);
}

TEST_F(VirtualAdapterTest, QuickAndByteWritesNeedNoData) {
  EXPECT_EQ(Smbus(I2C_SMBUS_WRITE, I2C_SMBUS_QUICK, nullptr), 0);
  EXPECT_EQ(Smbus(I2C_SMBUS_WRITE, I2C_SMBUS_BYTE, nullptr), 0);
  EXPECT_EQ(Smbus(I2C_SMBUS_READ, I2C_SMBUS_BYTE, nullptr), -EINVAL);
  EXPECT_EQ(Smbus(2, I2C_SMBUS_QUICK, nullptr), -EINVAL);
  i2c_smbus_data data = {};
  EXPECT_EQ(Smbus(I2C_SMBUS_WRITE, I2C_SMBUS_PROC_CALL, &data), -EOPNOTSUPP);
  EXPECT_EQ(Smbus(I2C_SMBUS_WRITE, 99, &data), -EINVAL);
}

TEST_F(VirtualAdapterTest, PlainReadsAndWrites) {
  ASSERT_EQ(Ioctl(I2C_SLAVE, 0x4F), 0);
  const uint8_t out[] = {0x5C, 4};
  EXPECT_EQ(adapter_.Write(out, 2, carry_), 2);
  EXPECT_EQ(carried_[0], (Transfer{{Message::Write(0x4F, {0x5C, 4})}}));
  uint8_t in[3] = {};
  answers_ = {TransferResult{.read = {{7, 8, 9}}}};
  EXPECT_EQ(adapter_.Read(in, 3, carry_), 3);
  EXPECT_EQ(in[2], 9);
  std::vector<uint8_t> long_one(10000);
  EXPECT_EQ(adapter_.Write(long_one.data(), long_one.size(), carry_), 8192) << "cut as the kernel does";
}

TEST_F(VirtualAdapterTest, AnSmbusAdapterCarriesNoMessages) {
  VirtualAdapter adapter({.smbus_only = true});
  uint8_t byte = 0;
  i2c_msg message = {0x4F, 0, 1, &byte};
  i2c_rdwr_ioctl_data request = {&message, 1};
  EXPECT_EQ(adapter.Ioctl(I2C_RDWR, reinterpret_cast<unsigned long>(&request), carry_), -EOPNOTSUPP);
  EXPECT_EQ(adapter.Read(&byte, 1, carry_), -EOPNOTSUPP);
  EXPECT_EQ(adapter.Write(&byte, 1, carry_), -EOPNOTSUPP);
  EXPECT_TRUE(carried_.empty());
  i2c_smbus_ioctl_data quick = {I2C_SMBUS_WRITE, 0, I2C_SMBUS_QUICK, nullptr};
  EXPECT_EQ(adapter.Ioctl(I2C_SMBUS, reinterpret_cast<unsigned long>(&quick), carry_), 0);
}

}  // namespace

}  // namespace sideband::i2cdev
