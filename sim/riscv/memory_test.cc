// SPDX-License-Identifier: Apache-2.0
#include "sim/riscv/memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

namespace sideband::riscv {
namespace {

constexpr uint64_t kBase = 0x10000;
constexpr uint64_t kSize = 0x2000;

TEST(MemoryTest, IsZeroAtTheStart) {
  const Memory memory(kBase, kSize);
  for (uint64_t address = kBase; address < memory.end(); address += 8) {
    ASSERT_EQ(memory.Load<uint64_t>(address), 0u);
  }
}

TEST(MemoryTest, IsLittleEndianAtAnyAlignment) {
  Memory memory(kBase, kSize);
  EXPECT_TRUE(memory.Store<uint32_t>(kBase + 1, 0x04030201));
  EXPECT_EQ(memory.Load<uint8_t>(kBase + 1), 1u);
  EXPECT_EQ(memory.Load<uint16_t>(kBase + 3), 0x0403u);
  EXPECT_EQ(memory.Load<uint64_t>(kBase), 0x0000000403020100u);
}

TEST(MemoryTest, HasNothingOutsideItsBounds) {
  Memory memory(kBase, kSize);
  const struct {
    uint64_t address;
    uint64_t size;
    bool contained;
  } kRows[] = {
      {kBase, 0, true},
      {kBase, kSize, true},
      {kBase, kSize + 1, false},
      {kBase + 1, kSize, false},
      {kBase - 1, 1, false},
      {kBase - 1, 2, false},
      {kBase + kSize - 1, 1, true},
      {kBase + kSize, 0, true},
      {kBase + kSize, 1, false},
      {0, 8, false},
      {~uint64_t{0}, 8, false},              // the end wraps round
      {~uint64_t{0} - 7, 8, false},          //
      {kBase, ~uint64_t{0}, false},          //
      {kBase + 1, ~uint64_t{0} - 1, false},  //
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(memory.Contains(row.address, row.size), row.contained) << row.address << " " << row.size;
  }
  EXPECT_EQ(memory.Load<uint64_t>(kBase + kSize - 7), std::nullopt);
  EXPECT_FALSE(memory.Store<uint64_t>(kBase + kSize - 7, ~uint64_t{0}));
  EXPECT_EQ(memory.Load<uint64_t>(kBase + kSize - 8), 0u) << "not in part either";
}

TEST(MemoryTest, WritesWordsOrNone) {
  Memory memory(kBase, kSize);
  const uint32_t words[] = {1, 2, 3};
  EXPECT_TRUE(memory.Write(memory.end() - 12, words));
  EXPECT_EQ(memory.Load<uint32_t>(memory.end() - 4), 3u);
  EXPECT_FALSE(memory.Write(memory.end() - 8, words));
  EXPECT_EQ(memory.Load<uint32_t>(memory.end() - 8), 2u);
  EXPECT_TRUE(memory.Write(memory.end(), {}));
}

}  // namespace
}  // namespace sideband::riscv
