// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/async_reader.h"

#include <gtest/gtest.h>

#include "daemon/board/round_runner.h"

namespace sideband::daemon {
namespace {

using mailbox::AsyncStatus;
using mailbox::AsyncType;
using mailbox::Capability;
using mailbox::Opcode;

// A board whose memory in use is read asynchronously.
class AsyncReaderTest : public testing::Test {
 protected:
  AsyncReaderTest() {
    board_.AnnounceScratch();
    board_.Announce(Capability::kMemoryCapacity);
    board_.async[AsyncType::kMemoryCapacity] = {.dwords = {512, 4096}};
  }
  FakeBoard board_;
  RoundRunner runner_{board_};
};

TEST_F(AsyncReaderTest, ReadsTheResult) {
  const MemoryReading& memory = runner_.Read(BoardGroup::kMemory).memory;
  EXPECT_EQ(memory.reserved_mib, 512u);
  EXPECT_EQ(memory.used_mib, 4096u);
  EXPECT_EQ(runner_.commands, 4u);  // submit, poll, two dwords
}

TEST_F(AsyncReaderTest, PollsUpToTheBound) {
  board_.async[AsyncType::kMemoryCapacity].unfinished_polls = kAsyncPollsMax - 1;
  EXPECT_TRUE(runner_.Read(BoardGroup::kMemory).memory.used_mib.has_value());
  EXPECT_EQ(board_.CountOf(Opcode::kAsyncRequest), 1u + kAsyncPollsMax);
}

TEST_F(AsyncReaderTest, ARequestThatNeverEndsIsAbsentAndReportedOnce) {
  board_.async[AsyncType::kMemoryCapacity].unfinished_polls = kAsyncPollsMax;
  EXPECT_FALSE(runner_.Read(BoardGroup::kMemory).memory.used_mib.has_value());
  EXPECT_EQ(board_.CountOf(Opcode::kAsyncRequest), 1u + kAsyncPollsMax);
  runner_.Read(BoardGroup::kMemory);
  EXPECT_EQ(runner_.reports.size(), 1u);
}

TEST_F(AsyncReaderTest, ARequestThatIsNotSupportedIsNotMadeAgain) {
  board_.async[AsyncType::kMemoryCapacity].status = AsyncStatus::kNotSupported;
  EXPECT_FALSE(runner_.Read(BoardGroup::kMemory).memory.used_mib.has_value());
  runner_.Read(BoardGroup::kMemory);
  EXPECT_EQ(runner_.commands, 0u);
  runner_.memory.refused.clear();
  runner_.Read(BoardGroup::kMemory);
  EXPECT_EQ(runner_.commands, 2u);
}

TEST_F(AsyncReaderTest, AFailureIsAbsentAndTriedAgain) {
  board_.async[AsyncType::kMemoryCapacity].status = AsyncStatus::kInvalidArgument;
  EXPECT_FALSE(runner_.Read(BoardGroup::kMemory).memory.used_mib.has_value());
  board_.async[AsyncType::kMemoryCapacity].status = AsyncStatus::kSuccess;
  EXPECT_TRUE(runner_.Read(BoardGroup::kMemory).memory.used_mib.has_value());
}

TEST_F(AsyncReaderTest, ADwordThatIsAbsentMakesTheResultAbsent) {
  board_.lie = [](const FakeBoard::Ran& ran) -> std::optional<BoardReply> {
    if (ran.word.opcode != Opcode::kScratchRead || ran.word.arg1 != 0) return std::nullopt;
    return BoardReply{.word = {.status = mailbox::MailboxStatus::kErrNotAvailable}};
  };
  const MemoryReading& memory = runner_.Read(BoardGroup::kMemory).memory;
  EXPECT_FALSE(memory.used_mib.has_value());
  EXPECT_FALSE(memory.reserved_mib.has_value());
}

TEST_F(AsyncReaderTest, WithoutScratchMemoryNothingIsAsked) {
  board_.capabilities.dwords[2] = 0;
  runner_.Read(BoardGroup::kMemory);
  EXPECT_EQ(runner_.commands, 0u);
}

TEST_F(AsyncReaderTest, PollsPauseLongerAndLonger) {
  board_.async[AsyncType::kMemoryCapacity].unfinished_polls = kAsyncPollsMax;
  BoardReading reading;
  BoardMemory memory{.capabilities = board_.capabilities};
  const BoardReport silent;
  GroupRound round(BoardGroup::kMemory, {}, memory, reading, silent);
  AddAsync(round, {.type = AsyncType::kMemoryCapacity, .dwords = 2}, [](const std::vector<uint32_t>&) {});
  absl::Duration last, sum;
  while (const PlannedCommand* next = round.Next()) {
    EXPECT_GE(next->pause, last);
    last = next->pause;
    sum += last;
    round.Take(*board_.Run(next->word, next->data, next->outputs));
  }
  EXPECT_EQ(last, absl::Milliseconds(100));
  EXPECT_EQ(sum, absl::Milliseconds(1 + 2 + 5 + 10 + 20 + 50 + 9 * 100));
}

}  // namespace
}  // namespace sideband::daemon
