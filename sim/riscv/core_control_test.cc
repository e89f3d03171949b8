// SPDX-License-Identifier: Apache-2.0
//
// Branches, jumps, loads, stores and fences.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "sim/riscv/assembler.h"
#include "sim/riscv/csr.h"
#include "sim/riscv/test_core.h"

namespace sideband::riscv {
namespace {

constexpr uint64_t kMinusOne = ~uint64_t{0};
constexpr uint64_t kMin = uint64_t{1} << 63;
constexpr uint64_t kData = kTestBase + 0x1000;

TEST(CoreControlTest, BranchesCompare) {
  const struct {
    const char* name;
    uint32_t (*word)(as::Reg rs1, as::Reg rs2, int32_t offset);
    uint64_t a;
    uint64_t b;
    bool taken;
  } kRows[] = {
      {"beq", as::Beq, 0, 0, true},
      {"beq", as::Beq, 1, 0, false},
      {"beq", as::Beq, kMin, 0, false},  // all 64 bits
      {"bne", as::Bne, 0, 0, false},
      {"bne", as::Bne, kMin, 0, true},
      {"blt", as::Blt, 0, 1, true},
      {"blt", as::Blt, 1, 1, false},
      {"blt", as::Blt, kMinusOne, 0, true},
      {"blt", as::Blt, 0, kMinusOne, false},
      {"blt", as::Blt, kMin, kMin - 1, true},
      {"bge", as::Bge, 1, 1, true},
      {"bge", as::Bge, 0, 1, false},
      {"bge", as::Bge, 0, kMinusOne, true},
      {"bge", as::Bge, kMin, kMin - 1, false},
      {"bltu", as::Bltu, 0, kMinusOne, true},
      {"bltu", as::Bltu, kMinusOne, 0, false},
      {"bltu", as::Bltu, 1, 1, false},
      {"bltu", as::Bltu, kMin - 1, kMin, true},
      {"bgeu", as::Bgeu, kMinusOne, 0, true},
      {"bgeu", as::Bgeu, 1, 1, true},
      {"bgeu", as::Bgeu, 0, kMinusOne, false},
  };
  for (const auto& row : kRows) {
    TestCore test({row.word(1, 2, 12)});
    test.core().set_x(1, row.a);
    test.core().set_x(2, row.b);
    test.Step();
    EXPECT_EQ(test.words_passed(), row.taken ? 3u : 1u) << row.name << " " << row.a << ", " << row.b;
    EXPECT_EQ(test.core().instructions(), 1u);
  }
}

TEST(CoreControlTest, JumpsReachAsFarAsTheirOffsets) {
  constexpr uint64_t kMiddle = kTestBase + 0x8000;
  const struct {
    uint32_t word;
    uint64_t target;
  } kRows[] = {
      {as::Beq(0, 0, -4096), kMiddle - 4096}, {as::Beq(0, 0, 4092), kMiddle + 4092},
      {as::Beq(0, 0, 2048), kMiddle + 2048},  {as::Beq(0, 0, 0), kMiddle},
      {as::Jal(1, 0x7ff8), kMiddle + 0x7ff8}, {as::Jal(1, -0x8000), kTestBase},
      {as::Jal(1, 0x800), kMiddle + 0x800},   {as::Jal(1, 0), kMiddle},
  };
  for (const auto& row : kRows) {
    TestCore test({}, {.pc = kMiddle});
    test.memory().Store(kMiddle, row.word);
    test.Step();
    EXPECT_EQ(test.core().pc(), row.target) << std::hex << row.word;
  }
  // The bits of a far offset, into memory that does not exist.
  for (const int32_t offset : {0xffffc, -0x100000, 0x80000, 0x55554}) {
    TestCore test({as::Jal(1, offset)});
    test.Step();
    EXPECT_EQ(test.core().pc(), kTestBase + static_cast<uint64_t>(int64_t{offset})) << offset;
    EXPECT_EQ(test.core().x(1), kTestBase + 4);
  }
}

TEST(CoreControlTest, JumpsLink) {
  TestCore test({as::Jal(1, 8), as::kNop, as::Jalr(2, 1, 0)});
  test.Step(2);
  EXPECT_EQ(test.core().x(1), kTestBase + 4);
  EXPECT_EQ(test.core().x(2), kTestBase + 12);
  EXPECT_EQ(test.core().pc(), kTestBase + 4);
}

TEST(CoreControlTest, JalrClearsTheLowestBitAndMayReadItsDestination) {
  TestCore test({as::Jalr(1, 1, 1)});
  test.core().set_x(1, kTestBase + 16);
  test.Step();
  EXPECT_EQ(test.core().pc(), kTestBase + 16);
  EXPECT_EQ(test.core().x(1), kTestBase + 4);

  TestCore negative({as::Jalr(0, 1, -2048)});
  negative.core().set_x(1, kTestBase + 2048 + 4);
  negative.Step();
  EXPECT_EQ(negative.core().pc(), kTestBase + 4);
}

TEST(CoreControlTest, LoadsExtendTheirSign) {
  const struct {
    const char* name;
    uint32_t (*word)(as::Reg rd, as::Reg base, int32_t imm);
    uint64_t result;
  } kRows[] = {
      {"lb", as::Lb, 0xffffffffffffff88}, {"lbu", as::Lbu, 0x88},
      {"lh", as::Lh, 0xffffffffffff8988}, {"lhu", as::Lhu, 0x8988},
      {"lw", as::Lw, 0xffffffff8b8a8988}, {"lwu", as::Lwu, 0x8b8a8988},
      {"ld", as::Ld, 0x8f8e8d8c8b8a8988},
  };
  for (const auto& row : kRows) {
    for (const int32_t offset : {0, 8, -8, 2040, -2048}) {
      TestCore test({row.word(2, 1, offset)});
      test.core().set_x(1, kData - static_cast<uint64_t>(int64_t{offset}));
      test.memory().Store<uint64_t>(kData, 0x8f8e8d8c8b8a8988);
      test.Step();
      EXPECT_EQ(test.core().x(2), row.result) << row.name << " " << offset;
    }
  }
}

TEST(CoreControlTest, StoresWriteTheirBytesOnly) {
  const struct {
    const char* name;
    uint32_t (*word)(as::Reg value, as::Reg base, int32_t imm);
    int32_t offset;
    uint64_t result;
  } kRows[] = {
      {"sb", as::Sb, 0, 0xffffffffffffff88}, {"sb", as::Sb, 7, 0x88ffffffffffffff},
      {"sh", as::Sh, 0, 0xffffffffffff8988}, {"sh", as::Sh, 6, 0x8988ffffffffffff},
      {"sw", as::Sw, 0, 0xffffffff8b8a8988}, {"sw", as::Sw, 4, 0x8b8a8988ffffffff},
      {"sd", as::Sd, 0, 0x8f8e8d8c8b8a8988},
  };
  for (const auto& row : kRows) {
    for (const int32_t further : {0, 1024, -2048}) {
      TestCore test({row.word(2, 1, row.offset + further)});
      test.core().set_x(1, kData - static_cast<uint64_t>(int64_t{further}));
      test.core().set_x(2, 0x8f8e8d8c8b8a8988);
      for (const uint64_t address : {kData - 8, kData, kData + 8}) test.memory().Store(address, kMinusOne);
      test.Step();
      EXPECT_EQ(test.memory().Load<uint64_t>(kData), row.result) << row.name << " " << row.offset;
      EXPECT_EQ(test.memory().Load<uint64_t>(kData - 8), kMinusOne);
      EXPECT_EQ(test.memory().Load<uint64_t>(kData + 8), kMinusOne);
    }
  }
}

TEST(CoreControlTest, TheLastBytesOfTheMemoryCanBeUsed) {
  TestCore test({as::Sd(2, 1, -8), as::Lb(3, 1, -1), as::Lhu(4, 1, -2), as::Lwu(5, 1, -4)});
  test.core().set_x(1, kTestEnd);
  test.core().set_x(2, 0x8f8e8d8c8b8a8988);
  test.Step(4);
  EXPECT_EQ(test.core().x(3), 0xffffffffffffff8f);
  EXPECT_EQ(test.core().x(4), 0x8f8eu);
  EXPECT_EQ(test.core().x(5), 0x8f8e8d8cu);
  EXPECT_EQ(test.core().instructions(), 4u);
}

TEST(CoreControlTest, LoadsToRegisterZeroStillAccessTheMemory) {
  TestCore test({as::Ld(0, 1, 0), as::Ld(0, 0, 0)});
  test.core().set_x(1, kData);
  test.memory().Store(kData, kMinusOne);
  test.Step();
  EXPECT_EQ(test.core().x(0), 0u);
  EXPECT_EQ(test.words_passed(), 1u);
  test.Step();
  EXPECT_EQ(test.core().instructions(), 1u) << "an access fault";
}

TEST(CoreControlTest, FencesAndWfiHaveNoEffect) {
  TestCore test({as::kFence, as::kFenceI, as::kWfi, as::TypeI(0x0f, 0, 31, 31, -1)});  // reserved fields are ignored
  test.Step(4);
  EXPECT_EQ(test.words_passed(), 4u);
  EXPECT_EQ(test.core().instructions(), 4u);
  EXPECT_EQ(test.core().x(31), 0u);
}

// Zifencei: a store to an instruction that has been executed is seen after fence.i.
TEST(CoreControlTest, StoresToInstructionsAreSeenAfterFenceI) {
  const std::vector<uint32_t> words = {
      as::Addi(5, 5, 1),                      // replaced by addi x5, x5, 100
      as::Sw(2, 1, 0),   as::Bne(6, 0, 8),    // the second time
      as::kNop,                               // or fence.i
      as::Addi(6, 6, 1), as::Blt(6, 7, -20),  // once
  };
  for (const bool fenced : {false, true}) {
    TestCore test(words);
    if (fenced) test.memory().Store(kTestBase + 12, as::kFenceI);
    test.core().set_x(1, kTestBase);
    test.core().set_x(2, as::Addi(5, 5, 100));
    test.core().set_x(7, 2);
    test.Step(11);
    EXPECT_EQ(test.words_passed(), 6u);
    EXPECT_EQ(test.core().x(5), fenced ? 101u : 2u);
  }
}

TEST(CoreControlTest, ALoopTakesACyclePerInstruction) {
  TestCore test({as::Addi(1, 0, 1000), as::Addi(1, 1, -1), as::Bne(1, 0, -4), as::Csrrwi(0, kMexit, 3)});
  test.Step(1'000'000);
  ASSERT_TRUE(test.core().halt());
  EXPECT_EQ(*test.core().halt(), (Halt{Halt::Reason::kExited, 3, kTestBase + 12}));
  EXPECT_EQ(test.core().instructions(), 2002u);
  EXPECT_EQ(test.core().cycle(), 2002u);
}

}  // namespace
}  // namespace sideband::riscv
