// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "daemon/board/fake_board.h"
#include "daemon/board/group_plans.h"

namespace sideband::daemon {
namespace {

using mailbox::Capability;
using mailbox::MiscFlag;
using mailbox::Opcode;

class FlagReaderTest : public testing::Test {
 protected:
  const FlagReading& Read() { return runner_.Read(BoardGroup::kFlags).flags; }
  FakeBoard board_;
  RoundRunner runner_{board_};
};

TEST_F(FlagReaderTest, ReadsAnnouncedFlags) {
  board_.Announce(Capability::kMigState);
  board_.Announce(Capability::kDrainAndReset);
  board_.Set(Opcode::kGetMiscFlags, 0, 0, 1 << 4 | 1 << 6 | 1 << 1);
  board_.Set(Opcode::kGetMiscFlags, 1, 0, 0b11);
  EXPECT_EQ(Read().flags, (std::map<MiscFlag, bool>{{MiscFlag::kMigSupported, false},
                                                    {MiscFlag::kMigCurrent, true},
                                                    {MiscFlag::kMigPending, false},
                                                    {MiscFlag::kDriverRuns, true},
                                                    {MiscFlag::kDeviceDisabled, false},
                                                    {MiscFlag::kDriverReloadPending, false},
                                                    {MiscFlag::kDrainRecommended, true}}));
}

TEST_F(FlagReaderTest, ReadsTheFabricManager) {
  board_.Announce(Capability::kFabricFlags);
  board_.Set(Opcode::kGetMiscFlags, 0, 0, 3 << 8);
  EXPECT_EQ(Read().fabric_manager, 3);
  board_.Set(Opcode::kGetMiscFlags, 0, 0, 4 << 8);
  EXPECT_EQ(Read().fabric_manager, std::nullopt);
}

TEST_F(FlagReaderTest, ReadsTheWriteProtection) {
  board_.Announce(Capability::kAccessWpMode);
  const auto read = [&](uint32_t mode) {
    board_.Set(Opcode::kAccessWriteProtect, 0, 0, mode);
    return Read().write_protected;
  };
  EXPECT_EQ(read(0xA5), true);
  EXPECT_EQ(read(0x5A), false);
  EXPECT_EQ(read(0x00), std::nullopt);
  EXPECT_EQ(runner_.commands, 1u);
}

}  // namespace
}  // namespace sideband::daemon
