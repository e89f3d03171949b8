// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "daemon/board/fake_board.h"
#include "daemon/board/group_plans.h"
#include "daemon/board/group_round.h"

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

}  // namespace
}  // namespace sideband::daemon
