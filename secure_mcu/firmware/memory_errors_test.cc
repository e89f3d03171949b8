// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/memory_errors.h"

#include <gtest/gtest.h>

namespace sideband::mcu {
namespace {

using mailbox::EccSelector;
using mailbox::MailboxStatus;

constexpr EccGeneration kGenerations[] = {EccGeneration::kV2, EccGeneration::kV3, EccGeneration::kV4,
                                          EccGeneration::kV5, EccGeneration::kV6};
constexpr EccGeneration kOfUnits[] = {EccGeneration::kV2, EccGeneration::kV3, EccGeneration::kV4};

class MemoryErrorsTest : public testing::Test {
 protected:
  void SetUp() override {
    state_.dram = {.corrected = 0xFFFFFFFF, .uncorrected = 2};
    state_.sram = {.corrected = 3, .uncorrected = 4};
  }
  Reply GetEcc(EccGeneration generation, uint8_t arg1, uint8_t arg2) {
    spec_.ecc = generation;
    return errors_.GetEcc(generation, arg1, arg2);
  }

  BoardSpec spec_ = {.row_remapping = true, .page_retirement = true};
  BoardState state_{spec_};
  MemoryErrors errors_{spec_, state_};
};

// A reply: its status, and its data if it succeeds.
struct EccCase {
  uint8_t arg1, arg2;
  MailboxStatus status;
  uint32_t data = 0;
};

TEST_F(MemoryErrorsTest, ABoardHasOneGeneration) {
  for (const EccGeneration asked : kGenerations) {
    spec_.ecc.reset();
    EXPECT_EQ(errors_.GetEcc(asked, 0, 0).status, MailboxStatus::kErrNotSupported);
    for (const EccGeneration generation : kGenerations) {
      spec_.ecc = generation;
      const bool is_served = asked == generation;
      EXPECT_EQ(errors_.GetEcc(asked, 0, 0).status,
                is_served ? MailboxStatus::kSuccess : MailboxStatus::kErrNotSupported);
      if (!is_served) {
        EXPECT_EQ(errors_.GetEcc(asked, 0xFF, 0xFF).status, MailboxStatus::kErrNotSupported) << "before arg1";
      }
    }
  }
}

constexpr uint8_t kDramSingle = EccSelector{}.Encode(), kDramDouble = EccSelector{.is_double = true}.Encode();
constexpr uint8_t kSramSingle = EccSelector{.is_graphics = true}.Encode(),
                  kSramDouble = EccSelector{.is_graphics = true, .is_double = true}.Encode();
constexpr EccCase kUnitCases[] = {
    {kDramSingle, 0, MailboxStatus::kSuccess, 0xFFFFFFFF},
    {kDramDouble, 0, MailboxStatus::kSuccess, 2},
    {kSramSingle, 0, MailboxStatus::kSuccess, 3},
    {kSramDouble, 0, MailboxStatus::kSuccess, 4},
    // Other sources and places have no errors.
    {EccSelector{.source = 1}.Encode(), 0, MailboxStatus::kSuccess, 0},
    {EccSelector{.is_graphics = true, .source = 1}.Encode(), 0, MailboxStatus::kSuccess, 0},
    {EccSelector{.is_graphics = true, .source = 3}.Encode(), 0, MailboxStatus::kSuccess, 0},
    {kDramSingle, 0x01, MailboxStatus::kSuccess, 0},
    {kDramSingle, 0xFF, MailboxStatus::kSuccess, 0},
    {kSramSingle, 0x10, MailboxStatus::kSuccess, 0},
    {kSramSingle, 0xFF, MailboxStatus::kSuccess, 0},
    // Addresses, whatever the low bits are.
    {0x40, 0, MailboxStatus::kErrNotSupported},
    {0x42, 0xFF, MailboxStatus::kErrNotSupported},
    {0x7F, 0, MailboxStatus::kErrNotSupported},
    // Undefined bits.
    {0x02, 0, MailboxStatus::kErrArg1},
    {0x20, 0, MailboxStatus::kErrArg1},
    {0x3F, 0xFF, MailboxStatus::kErrArg1},
    {0x80, 0, MailboxStatus::kErrArg1},
    {0xC0, 0, MailboxStatus::kErrArg1},
};

TEST_F(MemoryErrorsTest, GenerationsOfUnits) {
  for (const EccGeneration generation : kOfUnits) {
    for (const EccCase& row : kUnitCases) {
      const Reply reply = GetEcc(generation, row.arg1, row.arg2);
      EXPECT_EQ(reply.status, row.status) << int{row.arg1} << ", " << int{row.arg2};
      EXPECT_EQ(reply.data, row.data) << int{row.arg1} << ", " << int{row.arg2};
    }
  }
}

constexpr EccCase kIndexCases[] = {
    {0, 0, MailboxStatus::kSuccess, 0xFFFFFFFF},
    {0, 1, MailboxStatus::kSuccess, 2},
    {1, 0, MailboxStatus::kSuccess, 3},
    {1, 1, MailboxStatus::kSuccess, 4},
    {0, 2, MailboxStatus::kSuccess, 0},  // a type without counts
    {1, 4, MailboxStatus::kSuccess, 0},
    {0, 5, MailboxStatus::kErrArg2},
    {0, 7, MailboxStatus::kErrArg2},
    {0, 0x08, MailboxStatus::kErrArg2},  // an undefined bit
    {0, 0x20, MailboxStatus::kErrArg2},  // index 128
    {1, 0xE0, MailboxStatus::kErrArg2},  // index 897
    {2, 0, MailboxStatus::kErrArg1},
    {0x7F, 0xFF, MailboxStatus::kErrArg1},
    // The buffer has 16 entries.
    {0x80, 0, MailboxStatus::kErrNotSupported},
    {0x8F, 0xFF, MailboxStatus::kErrNotSupported},
    {0x90, 0, MailboxStatus::kErrArg1},
    {0xFF, 0, MailboxStatus::kErrArg1},
};

TEST_F(MemoryErrorsTest, GenerationOfIndexes) {
  for (const EccCase& row : kIndexCases) {
    const Reply reply = GetEcc(EccGeneration::kV5, row.arg1, row.arg2);
    EXPECT_EQ(reply.status, row.status) << int{row.arg1} << ", " << int{row.arg2};
    EXPECT_EQ(reply.data, row.data) << int{row.arg1} << ", " << int{row.arg2};
  }
}

constexpr EccCase kMemoryCases[] = {
    {0, 0, MailboxStatus::kSuccess, 3}, {0, 1, MailboxStatus::kSuccess, 0xFFFFFFFF},
    {0, 2, MailboxStatus::kErrArg2},    {1, 0, MailboxStatus::kSuccess, 4},
    {1, 1, MailboxStatus::kSuccess, 2}, {1, 2, MailboxStatus::kErrArg2},
    {2, 0, MailboxStatus::kSuccess, 0}, {2, 1, MailboxStatus::kErrArg2},
    {3, 0, MailboxStatus::kErrArg1},    {0xFF, 0xFF, MailboxStatus::kErrArg1},
};

TEST_F(MemoryErrorsTest, GenerationOfMemories) {
  for (const EccCase& row : kMemoryCases) {
    const Reply reply = GetEcc(EccGeneration::kV6, row.arg1, row.arg2);
    EXPECT_EQ(reply.status, row.status) << int{row.arg1} << ", " << int{row.arg2};
    EXPECT_EQ(reply.data, row.data) << int{row.arg1} << ", " << int{row.arg2};
  }
  state_.sram_threshold_exceeded = true;
  EXPECT_EQ(GetEcc(EccGeneration::kV6, 2, 0).data, 1u);
}

struct RemapCase {
  uint32_t uncorrected, corrected;
  uint32_t both;
};
constexpr RemapCase kRemaps[] = {
    {0, 0, 0},
    {1, 2, 0x00'2001},
    {0x7FF, 0, 0x00'07FF},  // the most that fits
    {0x800, 0, 0x00'0FFF},  // with the flag that there were more
    {0, 0x7FF, 0x7F'F000},
    {0, 0x800, 0xFF'F000},
    {0xFFFFFFFF, 0xFFFFFFFF, 0xFF'FFFF},
};

TEST_F(MemoryErrorsTest, RemapCounts) {
  for (const RemapCase& row : kRemaps) {
    state_.rows.uncorrected = row.uncorrected;
    state_.rows.corrected = row.corrected;
    EXPECT_EQ(errors_.GetRowRemap(0, 0).data, row.both);
    EXPECT_EQ(errors_.GetRowRemap(0, 1).data, row.uncorrected);
    EXPECT_EQ(errors_.GetRowRemap(0, 2).data, row.corrected);
  }
  EXPECT_EQ(errors_.GetRowRemap(0, 2).status, MailboxStatus::kSuccess);
  EXPECT_EQ(errors_.GetRowRemap(0, 3).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(errors_.GetRowRemap(0, 0xFF).status, MailboxStatus::kErrArg2);
}

TEST_F(MemoryErrorsTest, RemapFlags) {
  EXPECT_EQ(errors_.GetRowRemap(1, 0).data, 0u);
  state_.rows.is_pending = true;
  EXPECT_EQ(errors_.GetRowRemap(1, 0).data, 2u);
  state_.rows.has_failed = true;
  EXPECT_EQ(errors_.GetRowRemap(1, 0).data, 3u);
  EXPECT_EQ(errors_.GetRowRemap(1, 1).status, MailboxStatus::kErrArg2);
}

TEST_F(MemoryErrorsTest, RemapHistogram) {
  state_.rows.banks = {.none = 0xFFFF, .low = 1, .partial = 0xFFFE, .high = 3, .maximum = 0x8004};
  const Reply reply = errors_.GetRowRemap(2, 0);
  EXPECT_EQ(reply.word_bits, 0xFFFFu);
  EXPECT_EQ(reply.data, 0xFFFE0001u);
  EXPECT_EQ(reply.extended_data, 0x80040003u);
  EXPECT_EQ(errors_.GetRowRemap(2, 1).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(errors_.GetRowRemap(3, 1).status, MailboxStatus::kErrArg1);
  state_.rows.banks = {};
  EXPECT_EQ(errors_.GetRowRemap(2, 0).word_bits, 0u) << "in place of the arguments, even if there are none";
}

TEST_F(MemoryErrorsTest, ABoardWithoutRemapping) {
  spec_.row_remapping = false;
  for (const uint8_t arg1 : {0, 1, 2, 3}) {
    EXPECT_EQ(errors_.GetRowRemap(arg1, 0).status, MailboxStatus::kErrNotSupported) << int{arg1};
  }
}

TEST_F(MemoryErrorsTest, RetiredPages) {
  EXPECT_EQ(errors_.GetRetiredPages(0).data, 0u);
  state_.pages = {.single_bit = 0xFF, .double_bit = 0x80};
  EXPECT_EQ(errors_.GetRetiredPages(0).data, 0x80FFu);
  EXPECT_EQ(errors_.GetRetiredPages(1).status, MailboxStatus::kErrArg1);
  spec_.page_retirement = false;
  EXPECT_EQ(errors_.GetRetiredPages(0).status, MailboxStatus::kErrNotSupported);
  EXPECT_EQ(errors_.GetRetiredPages(1).status, MailboxStatus::kErrNotSupported);
}

}  // namespace
}  // namespace sideband::mcu
