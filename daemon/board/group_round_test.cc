// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/group_round.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "daemon/board/fake_board.h"

namespace sideband::daemon {
namespace {

// smbpbi-facts.md, 6.2, at 100 kHz: 10 µs a bit.
TEST(CommandCostTest, AsInTheFacts) {
  EXPECT_EQ(CommandBits(false, {.data = true}, {.has_pec = false}), 215u);
  EXPECT_EQ(CommandBits(false, {.data = true}, {.has_pec = true}), 242u);
  EXPECT_EQ(CommandBits(true, {.data = true}, {.has_pec = false}), 280u);
  EXPECT_EQ(CommandBits(true, {.data = true}, {.has_pec = true}), 316u);
  EXPECT_EQ(CommandBits(false, {.data = true, .extended_data = true}, {.has_pec = false}), 290u);
  EXPECT_EQ(CommandBits(false, {.data = true, .extended_data = true}, {.has_pec = true}), 326u);
  EXPECT_EQ(CommandBits(false, {}, {.has_pec = false}), 140u);
  EXPECT_EQ(CommandBits(false, {.data = true}, {.has_pec = false, .is_shared = true}), 215u + 75);
  EXPECT_EQ(CommandBits(false, {}, {.has_pec = false, .is_shared = true}), 140u);
}

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

using mailbox::MailboxStatus;

class GroupRoundTest : public testing::Test {
 protected:
  GroupRound Round(BoardGroup group = BoardGroup::kPower) { return GroupRound(group, {}, memory_, draft_, report_); }
  static BoardReply Reply(MailboxStatus status, uint32_t data = 0) {
    return {.word = {.status = status}, .data = data};
  }
  PlannedCommand Noting(uint8_t arg1) {
    return {.word = BoardCommand(Opcode::kGetPower, arg1),
            .outputs = {.data = true},
            .take = [this](const BoardReply& reply) { taken_.push_back(reply.data); }};
  }

  BoardMemory memory_;
  BoardReading draft_;
  std::vector<uint32_t> taken_;
  std::vector<std::string> reports_;
  const BoardReport report_ = [this](absl::string_view group, absl::string_view what) {
    reports_.push_back(std::string(group) + ": " + std::string(what));
  };
};

TEST_F(GroupRoundTest, RunsItsCommandsInOrderAndFollowingOnesFirst) {
  GroupRound round = Round();
  PlannedCommand first = Noting(0);
  first.take = [&](const BoardReply&) {
    round.Add(Noting(10));
    round.Add(Noting(11));
  };
  round.Add(std::move(first));
  round.Add(Noting(1));
  std::vector<uint8_t> order;
  while (const PlannedCommand* next = round.Next()) {
    order.push_back(next->word.arg1);
    round.Take(Reply(MailboxStatus::kSuccess));
    if (order.size() == 3) break;
  }
  EXPECT_EQ(order, (std::vector<uint8_t>{0, 10, 11}));
}

TEST_F(GroupRoundTest, EndsAtTheGroupsMost) {
  GroupRound round = Round(BoardGroup::kMargin);
  round.Add(Noting(0));
  round.Add(Noting(1));
  ASSERT_NE(round.Next(), nullptr);
  round.Take(Reply(MailboxStatus::kSuccess));
  EXPECT_EQ(round.Next(), nullptr);
  EXPECT_EQ(round.commands(), 1u);
}

TEST_F(GroupRoundTest, DoesNotRepeatWhatTheBoardHasRefused) {
  for (const MailboxStatus status :
       {MailboxStatus::kErrOpcode, MailboxStatus::kErrArg1, MailboxStatus::kErrArg2, MailboxStatus::kErrNotSupported}) {
    memory_.refused.clear();
    GroupRound round = Round();
    EXPECT_TRUE(round.Add(Noting(0)));
    round.Take(Reply(status));
    EXPECT_FALSE(round.Add(Noting(0)));
    EXPECT_TRUE(round.Add(Noting(1)));
  }
  EXPECT_TRUE(taken_.empty());
}

TEST_F(GroupRoundTest, RepeatsWhatIsUnknownNow) {
  for (const MailboxStatus status : {MailboxStatus::kErrNotAvailable, MailboxStatus::kErrSensorData,
                                     MailboxStatus::kErrBusy, MailboxStatus::kErrMisc}) {
    GroupRound round = Round();
    EXPECT_TRUE(round.Add(Noting(0)));
    round.Take(Reply(status));
    EXPECT_TRUE(round.Add(Noting(0)));
  }
}

TEST_F(GroupRoundTest, TakesAcceptedWhereItIsExpected) {
  GroupRound round = Round();
  PlannedCommand command = Noting(0);
  command.takes_accepted = true;
  round.Add(std::move(command));
  round.Add(Noting(1));
  round.Take(Reply(MailboxStatus::kAccepted, 7));
  round.Take(Reply(MailboxStatus::kAccepted, 8));
  EXPECT_EQ(taken_, std::vector<uint32_t>{7});
}

TEST_F(GroupRoundTest, ReportsAFailureOnceAndAgainAfterASuccess) {
  GroupRound round = Round();
  const auto run = [&](MailboxStatus status) {
    round.Add(Noting(0));
    round.Take(Reply(status));
  };
  run(MailboxStatus::kErrMisc);
  EXPECT_EQ(reports_, std::vector<std::string>{"power: GET_POWER 00 00: ERR_MISC"});
  GroupRound again = Round();
  again.Add(Noting(0));
  again.Take(Reply(MailboxStatus::kErrMisc));
  EXPECT_EQ(reports_.size(), 1u);
  again.Add(Noting(0));
  again.Take(Reply(MailboxStatus::kSuccess));
  again.Add(Noting(0));
  again.Take(Reply(MailboxStatus::kErrMisc));
  EXPECT_EQ(reports_.size(), 2u);
  // A status that every board may have is not reported.
  GroupRound quiet = Round();
  quiet.Add(Noting(1));
  quiet.Take(Reply(MailboxStatus::kErrNotAvailable));
  EXPECT_EQ(reports_.size(), 2u);
}

TEST_F(GroupRoundTest, ChecksBothBoundsAndReportsChanges) {
  GroupRound round = Round();
  EXPECT_EQ(round.Plausible("x", 0, 0, 10), 0);
  EXPECT_EQ(round.Plausible("x", 10, 0, 10), 10);
  EXPECT_EQ(round.Plausible("x", -0.1, 0, 10), std::nullopt);
  EXPECT_EQ(round.Plausible("x", 10.1, 0, 10), std::nullopt);
  EXPECT_EQ(round.Plausible("x", 5, 0, 10), 5);
  EXPECT_EQ(reports_, (std::vector<std::string>{"power: x is implausible", "power: x is plausible again"}));
}

TEST_F(GroupRoundTest, ClearsTheGroupsValuesAlone) {
  draft_.power.watts[mailbox::PowerSource::kTotal] = 1;
  draft_.margin.celsius = 2;
  Round();
  EXPECT_TRUE(draft_.power.watts.empty());
  EXPECT_TRUE(draft_.margin.celsius.has_value());
}

TEST_F(GroupRoundTest, KnowsTheBusTimeOfItsPlan) {
  GroupRound round = Round();
  round.Add(Noting(0));
  round.Add({.word = BoardCommand(Opcode::kScratchWrite), .data = 1});
  EXPECT_EQ(round.PlannedBits({.has_pec = false}), 215u + 65 + 140);
}

}  // namespace

}  // namespace sideband::daemon
