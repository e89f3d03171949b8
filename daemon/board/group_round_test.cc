// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/group_round.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sideband::daemon {
namespace {

using mailbox::MailboxStatus;
using mailbox::Opcode;

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
  // What may happen to every board is no news.
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
