// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "daemon/board/fake_board.h"
#include "daemon/board/group_plans.h"

namespace sideband::daemon {
namespace {

using mailbox::BoardClock;
using mailbox::Capability;
using mailbox::Opcode;
using mailbox::Violation;

class ClockReaderTest : public testing::Test {
 protected:
  FakeBoard board_;
  RoundRunner runner_{board_};
};

TEST_F(ClockReaderTest, ReadsClocksStateAndReasons) {
  for (const auto capability : {Capability::kClocks, Capability::kPState, Capability::kThrottleReason}) {
    board_.Announce(capability);
  }
  board_.Set(Opcode::kGetClock, 0, 0, 1980);
  board_.Set(Opcode::kGetClock, 0, 1, 100'000);
  board_.Set(Opcode::kGetClock, 3, 0, 0xFFFF'FFF2);
  board_.Set(Opcode::kGetClock, 5, 0, 0xFFFF'FFC4);  // bits above 5 have no name
  const ClockReading& clocks = runner_.Read(BoardGroup::kClocks).clocks;
  EXPECT_EQ(clocks.current_mhz,
            (std::map<BoardClock, double>{{BoardClock::kGraphics, 1980}, {BoardClock::kMemory, 100'000}}));
  EXPECT_EQ(clocks.performance_state, 2);
  EXPECT_EQ(clocks.throttle_active, 4u);
}

TEST_F(ClockReaderTest, AnInvalidStateAndAnImpossibleClockAreAbsent) {
  board_.Announce(Capability::kClocks);
  board_.Announce(Capability::kPState);
  board_.Set(Opcode::kGetClock, 0, 0, 100'001);
  board_.Set(Opcode::kGetClock, 3, 0, mailbox::kPStateInvalid);
  const ClockReading& clocks = runner_.Read(BoardGroup::kClocks).clocks;
  EXPECT_TRUE(clocks.current_mhz.empty());
  EXPECT_EQ(clocks.performance_state, std::nullopt);
  EXPECT_EQ(clocks.throttle_active, std::nullopt);
}

TEST_F(ClockReaderTest, ReadsLimits) {
  board_.Announce(Capability::kClocks);
  board_.Announce(Capability::kThrottleReason);
  board_.Set(Opcode::kGetClock, 1, 0, 210);
  board_.Set(Opcode::kGetClock, 2, 1, 2619);
  board_.Set(Opcode::kGetClock, 4, 0, 0x3F);
  const ClockLimitReading& limits = runner_.Read(BoardGroup::kClockLimits).clock_limits;
  EXPECT_EQ(limits.minimum_mhz, (std::map<BoardClock, double>{{BoardClock::kGraphics, 210}}));
  EXPECT_EQ(limits.maximum_mhz, (std::map<BoardClock, double>{{BoardClock::kMemory, 2619}}));
  EXPECT_EQ(limits.throttle_supported, 0x3Fu);
}

TEST_F(ClockReaderTest, ReadsAnnouncedViolationsThatTheBoardHasFilled) {
  board_.AnnounceScratch();
  board_.Announce(Capability::kHwViolation);
  board_.Announce(Capability::kSwPowerViolation);
  board_.Announce(Capability::kSwThermalViolation);
  // HW, SW global and SW power.
  board_.async[mailbox::AsyncType::kViolations] = {.dwords = {0b0111, 0, 1, 2, 3, 0, 5, 0, 7, 0}};
  const auto& counts = runner_.Read(BoardGroup::kViolations).violations.counts;
  ASSERT_EQ(counts.size(), 2u);
  EXPECT_EQ(counts.at(Violation::kHardware).value, 0x2'0000'0001u);
  EXPECT_EQ(counts.at(Violation::kSoftwarePower).value, 5u);
  // All are asked for.
  EXPECT_EQ(board_.log.front().word.opcode, Opcode::kScratchWrite);
  EXPECT_EQ(board_.log.front().data, mailbox::kAllViolations);
}

}  // namespace
}  // namespace sideband::daemon
