// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "daemon/board/fake_board.h"
#include "daemon/board/group_plans.h"
#include "daemon/board/group_round.h"
#include "proto/mailbox/memory_links.h"

namespace sideband::daemon {
namespace {

using mailbox::Capability;
using mailbox::Opcode;

class MemoryReaderTest : public testing::Test {
 protected:
  FakeBoard board_;
  RoundRunner runner_{board_};
};

TEST_F(MemoryReaderTest, ReadsSizeAndUse) {
  board_.AnnounceScratch();
  board_.Announce(Capability::kMemoryCapacity);
  board_.Announce(Capability::kDramCapacity);
  board_.Set(Opcode::kGetSysId, 0x17, 0, 81'920);
  board_.async[mailbox::AsyncType::kMemoryCapacity] = {.dwords = {kMemoryMibMax, kMemoryMibMax + 1}};
  const MemoryReading& memory = runner_.Read(BoardGroup::kMemory).memory;
  EXPECT_EQ(memory.total_mib, 81'920u);
  EXPECT_EQ(memory.reserved_mib, kMemoryMibMax);
  EXPECT_EQ(memory.used_mib, std::nullopt);
}

TEST_F(MemoryReaderTest, ReadsRemaps) {
  board_.Announce(Capability::kRowRemap);
  board_.Announce(Capability::kRemapPending);
  board_.Announce(Capability::kRemapHistogram);
  board_.Set(Opcode::kGetRowRemap, 0, 0,
             mailbox::RemapCountFields{.uncorrected = 3, .corrected = 5, .corrected_excess = true}.Encode());
  board_.Set(Opcode::kGetRowRemap, 1, 0, mailbox::kRemapPending);
  board_.lie = [](const FakeBoard::Ran& ran) -> std::optional<BoardReply> {
    if (ran.word.opcode != Opcode::kGetRowRemap || ran.word.arg1 != 2) return std::nullopt;
    return BoardReply{mailbox::CommandWord::Decode(0x1F00'1234), 0x0003'0002, 0x0280'0004};
  };
  const RowRemapReading& remaps = runner_.Read(BoardGroup::kRowRemaps).row_remaps;
  EXPECT_EQ(remaps.uncorrected->value, 3u);
  EXPECT_EQ(remaps.corrected->value, 5u);
  EXPECT_TRUE(remaps.has_excess);
  EXPECT_EQ(remaps.is_pending, true);
  EXPECT_EQ(remaps.has_failed, false);
  EXPECT_EQ(remaps.banks,
            (mailbox::RemapHistogram{.none = 0x1234, .low = 2, .partial = 3, .high = 4, .maximum = 0x280}));
}

TEST_F(MemoryReaderTest, ReadsRetiredPages) {
  board_.Announce(Capability::kRetiredPages);
  board_.Set(Opcode::kGetRetiredPages, 0, 0, 0x0201);
  const RetiredPageReading& pages = runner_.Read(BoardGroup::kRetiredPages).retired_pages;
  EXPECT_EQ(pages.single_bit, 1);
  EXPECT_EQ(pages.double_bit, 2);
}

using mailbox::EccMemory;
using mailbox::EccSelector;
using mailbox::MailboxStatus;

class EccReaderTest : public testing::Test {
 protected:
  const EccReading& Read() { return runner_.Read(BoardGroup::kEcc).ecc; }
  FakeBoard board_;
  RoundRunner runner_{board_};
};

TEST_F(EccReaderTest, Version6) {
  board_.Announce(Capability::kEccV6);
  board_.Announce(Capability::kEccV5);
  board_.Announce(Capability::kSramThreshold);
  board_.Set(Opcode::kGetEccV6, 0, 0, 10);
  board_.Set(Opcode::kGetEccV6, 1, 0, 11);
  board_.Set(Opcode::kGetEccV6, 0, 1, 12);
  board_.Set(Opcode::kGetEccV6, 2, 0, 1);
  const EccReading& ecc = Read();
  EXPECT_EQ(ecc.corrected.at(EccMemory::kSram).value, 10u);
  EXPECT_EQ(ecc.uncorrected.at(EccMemory::kSram).value, 11u);
  EXPECT_EQ(ecc.corrected.at(EccMemory::kDram).value, 12u);
  EXPECT_FALSE(ecc.uncorrected.contains(EccMemory::kDram));
  EXPECT_EQ(ecc.sram_threshold_exceeded, true);
  EXPECT_EQ(board_.CountOf(Opcode::kGetEccV5), 0u);
}

TEST_F(EccReaderTest, Version5) {
  board_.Announce(Capability::kEccV5);
  board_.Set(Opcode::kGetEccV5, 0, 0, 1);
  board_.Set(Opcode::kGetEccV5, 1, 1, 2);
  const EccReading& ecc = Read();
  EXPECT_EQ(ecc.corrected.at(EccMemory::kDram).value, 1u);
  EXPECT_EQ(ecc.uncorrected.at(EccMemory::kSram).value, 2u);
}

// Two partitions of two slices each.
TEST_F(EccReaderTest, Version2SumsItsUnits) {
  board_.Announce(Capability::kEccV2);
  board_.lie = [](const FakeBoard::Ran& ran) -> std::optional<BoardReply> {
    if (ran.word.opcode != Opcode::kGetEccV2) return std::nullopt;
    BoardReply reply{.word = ran.word};
    const bool is_frame_buffer = !EccSelector::Decode(ran.word.arg1).is_graphics;
    const bool exists = is_frame_buffer && (ran.word.arg2 >> 4) < 2 && (ran.word.arg2 & 0xF) < 2;
    reply.word.status = exists ? MailboxStatus::kSuccess : MailboxStatus::kErrArg2;
    reply.data = 100u + ran.word.arg2;
    return reply;
  };
  const EccReading& ecc = Read();
  EXPECT_EQ(ecc.corrected.at(EccMemory::kDram).value, 4 * 100u + 0x00 + 0x01 + 0x10 + 0x11);
  EXPECT_EQ(ecc.uncorrected.at(EccMemory::kDram).value, ecc.corrected.at(EccMemory::kDram).value);
  EXPECT_FALSE(ecc.corrected.contains(EccMemory::kSram));
}

TEST_F(EccReaderTest, AMemoryOfWhichOneCounterBeginsAnewBeginsAnew) {
  board_.Announce(Capability::kEccV6);
  board_.Set(Opcode::kGetEccV6, 0, 0, 10);
  const absl::Time created = Read().corrected.at(EccMemory::kSram).created;
  board_.Set(Opcode::kGetEccV6, 0, 0, 2);
  const RunningCount again = Read().corrected.at(EccMemory::kSram);
  EXPECT_EQ(again.value, 2u);
  EXPECT_GT(again.created, created);
}

// A board that has every unit cannot make the round endless.
TEST_F(EccReaderTest, UnitsAreBounded) {
  board_.Announce(Capability::kEccV3);
  board_.lie = [](const FakeBoard::Ran& ran) {
    BoardReply reply{.word = ran.word};
    reply.word.status = MailboxStatus::kSuccess;
    return std::optional(reply);
  };
  Read();
  EXPECT_EQ(runner_.commands, RowOf(BoardGroup::kEcc).commands_max);
}

TEST(NextUnitTest, VisitsEveryUnitAndSkipsWhatIsNotThere) {
  constexpr int kNibbles[] = {4, 4}, kTextureUnits[] = {3, 3, 2};
  EXPECT_EQ(NextUnit(0, true, kNibbles), 1);
  EXPECT_EQ(NextUnit(0x0F, true, kNibbles), 0x10);
  EXPECT_EQ(NextUnit(0xFF, true, kNibbles), std::nullopt);
  EXPECT_EQ(NextUnit(0, false, kNibbles), std::nullopt);
  EXPECT_EQ(NextUnit(0x02, false, kNibbles), 0x10);
  EXPECT_EQ(NextUnit(0x10, false, kNibbles), std::nullopt);
  EXPECT_EQ(NextUnit(0xF2, false, kNibbles), std::nullopt);
  EXPECT_EQ(NextUnit(0b00'000'100, false, kTextureUnits), 0b00'001'000);
  EXPECT_EQ(NextUnit(0b00'011'000, false, kTextureUnits), 0b01'000'000);
  EXPECT_EQ(NextUnit(0b10'000'000, false, kTextureUnits), std::nullopt);
}

}  // namespace

}  // namespace sideband::daemon
