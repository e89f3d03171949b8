// SPDX-License-Identifier: Apache-2.0
#include "proto/base/bytes.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <string>
#include <thread>

#include "absl/base/config.h"
#include "proto/base/wait_until.h"

namespace sideband {
namespace {

TEST(BytesTest, ReaderReturnsWhatWriterWrote) {
  ByteWriter out;
  out.U8(0x12);
  out.U16(0x3456);
  out.U32(0x789ABCDE);
  out.U64(0x0123456789ABCDEFull);
  out.String("slice0");
  const Bytes bytes = std::move(out).Take();
  ASSERT_EQ(bytes.size(), 1u + 2 + 4 + 8 + 1 + 6);
  EXPECT_EQ(bytes[1], 0x56) << "little-endian";

  ByteReader in(bytes);
  EXPECT_EQ(in.U8(), 0x12);
  EXPECT_EQ(in.U16(), 0x3456);
  EXPECT_EQ(in.U32(), 0x789ABCDEu);
  EXPECT_EQ(in.U64(), 0x0123456789ABCDEFull);
  EXPECT_EQ(in.String(), "slice0");
  EXPECT_TRUE(in.ok());
  EXPECT_EQ(in.remaining(), 0u);
}

TEST(BytesTest, ReadPastTheEndIsZeroAndStaysFailed) {
  const Bytes bytes = {1, 2, 3};
  ByteReader in(bytes);
  EXPECT_EQ(in.U32(), 0u);
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.U8(), 0u) << "nothing can be read after a failure";
  EXPECT_FALSE(in.ok());
}

TEST(BytesTest, StringLengthBeyondTheEndFails) {
  const Bytes bytes = {5, 'a', 'b'};
  ByteReader in(bytes);
  EXPECT_EQ(in.String(), "");
  EXPECT_FALSE(in.ok());
}

TEST(BytesTest, PatchU32OverwritesInPlace) {
  ByteWriter out;
  out.U32(0);
  out.U8(7);
  out.PatchU32(0, 0xAABBCCDD);
  EXPECT_EQ(std::move(out).Take(), (Bytes{0xDD, 0xCC, 0xBB, 0xAA, 7}));
}

TEST(BytesTest, Crc32cMatchesTheCheckValue) { EXPECT_EQ(Crc32c(AsBytes(std::string("123456789"))), 0xE3069283u); }

TEST(HexTest, TwoDigitsAreAByteInEitherCase) {
  EXPECT_EQ(ParseHex(""), Bytes());
  EXPECT_EQ(ParseHex("00"), Bytes({0}));
  EXPECT_EQ(ParseHex("ff7fFF0a"), Bytes({0xFF, 0x7F, 0xFF, 0x0A}));
}

TEST(HexTest, EverythingElseIsRefused) {
  for (const char* text : {"0", "000", "0g", "g0", " 0", "0 ", "-1", "+1", "0x", "0x00", "00 00", "00\n"}) {
    EXPECT_EQ(ParseHex(text), std::nullopt) << text;
  }
}

using Counters = std::vector<uint64_t, SecretAllocator<uint64_t>>;

// The kernel's flags of the mapping at an address; empty if the address is not mapped.
std::string FlagsOfMapping(const void* address) {
  const auto place = reinterpret_cast<uintptr_t>(address);
  std::ifstream maps("/proc/self/smaps");
  bool is_there = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    if (sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) is_there = begin <= place && place < end;
    if (is_there && line.starts_with("VmFlags:")) return line + " ";
  }
  return "";
}

TEST(SecretMemoryTest, IsLeftOutOfCoreDumps) {
#if !defined(ABSL_HAVE_ADDRESS_SANITIZER)
  Counters counters(1000, 7);
  EXPECT_NE(FlagsOfMapping(counters.data()).find(" dd "), std::string::npos) << FlagsOfMapping(counters.data());
  const std::vector<uint64_t> ordinary(1000, 7);
  EXPECT_EQ(FlagsOfMapping(ordinary.data()).find(" dd "), std::string::npos) << "or the test sees nothing";
#endif
}

TEST(SecretMemoryTest, HidesAThreadsStack) {
  const TimeLimit limit("the thread's end");
  std::thread([] {
    const int local = 0;
    EXPECT_EQ(FlagsOfMapping(&local).find(" dd "), std::string::npos) << "or the test sees nothing";
    HideStackFromCoreDumps();
    EXPECT_NE(FlagsOfMapping(&local).find(" dd "), std::string::npos);
  }).join();
}

TEST(SecretMemoryTest, StartsAsZerosAndIsWritable) {
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{4096}, size_t{4097}, size_t{10} << 20}) {
    auto* const memory = static_cast<uint8_t*>(AllocateSecretMemory(bytes));
    ASSERT_NE(memory, nullptr);
    for (const size_t at : {size_t{0}, bytes / 2, bytes - 1}) {
      if (at >= bytes) continue;
      EXPECT_EQ(memory[at], 0);
      memory[at] = 0xFF;
      EXPECT_EQ(memory[at], 0xFF);
      memory[at] = 0;
    }
    FreeSecretMemory(memory, bytes);
  }
  FreeSecretMemory(nullptr, 0);
}

// Freed memory is either unmapped or zero.
TEST(SecretMemoryTest, HoldsVectorsThatGrow) {
  Counters counters;
  for (uint64_t i = 0; i < 100'000; ++i) counters.push_back(i);
  for (uint64_t i = 0; i < 100'000; ++i) ASSERT_EQ(counters[i], i);
  const Counters moved = std::move(counters);
  EXPECT_EQ(moved.back(), 99'999u);
}

TEST(SecretMemoryTest, TooMuchIsBadAlloc) {
  SecretAllocator<uint64_t> allocator;
  EXPECT_THROW(allocator.allocate(std::numeric_limits<size_t>::max() / 8 + 1), std::bad_alloc);
#if !defined(ABSL_HAVE_ADDRESS_SANITIZER)
  EXPECT_THROW(allocator.allocate(std::numeric_limits<size_t>::max() / 16), std::bad_alloc);
#endif
}

}  // namespace
}  // namespace sideband
