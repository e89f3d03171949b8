// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/board_store.h"

#include <gtest/gtest.h>

#include <vector>

namespace sideband::daemon {
namespace {

using mailbox::CommandWord;
using mailbox::MailboxStatus;
using mailbox::Opcode;

constexpr CommandWord kTheirs = {.opcode = Opcode::kGetTemp, .status = MailboxStatus::kSuccess};
constexpr CommandWord kOther = {.opcode = Opcode::kGetPower, .status = MailboxStatus::kSuccess};
constexpr CommandWord kRunning = {.opcode = Opcode::kGetTemp, .execute = true};

class BurstGateTest : public testing::Test {
 protected:
  // Looks whenever one is due, until then; true as soon as it is quiet.
  bool LookUntil(absl::Duration until, const CommandWord& status, bool is_own = false) {
    while (gate_.next_look() <= until) {
      now_ = std::max(now_, gate_.next_look());
      gate_.Look(status, is_own, now_);
      if (gate_.IsQuiet()) return true;
    }
    now_ = until;
    return false;
  }

  absl::Duration now_ = absl::Seconds(50);
  BurstGate gate_{{.commands = 3, .quiet = absl::Milliseconds(100), .interval = absl::Seconds(1)}};
};

TEST_F(BurstGateTest, OpensAfterTheWordHasNotChangedForAsLong) {
  const absl::Duration start = now_;
  EXPECT_FALSE(gate_.IsQuiet());
  EXPECT_FALSE(LookUntil(start + absl::Milliseconds(99), kTheirs));
  EXPECT_TRUE(LookUntil(start + absl::Milliseconds(100), kTheirs));
  EXPECT_EQ(now_ - start, absl::Milliseconds(100));
}

TEST_F(BurstGateTest, AnotherWordBeginsAnew) {
  const absl::Duration start = now_;
  EXPECT_FALSE(LookUntil(start + absl::Milliseconds(75), kTheirs));
  EXPECT_FALSE(LookUntil(start + absl::Milliseconds(175), kOther)) << "seen 25 ms after the last look";
  EXPECT_TRUE(LookUntil(start + absl::Milliseconds(200), kOther));
}

TEST_F(BurstGateTest, ACommandThatRunsBeginsAnew) {
  const absl::Duration start = now_;
  EXPECT_FALSE(LookUntil(start + absl::Milliseconds(75), kTheirs));
  EXPECT_FALSE(LookUntil(start + absl::Milliseconds(300), kRunning)) << "however long it takes";
  EXPECT_FALSE(LookUntil(start + absl::Milliseconds(400), kTheirs)) << "its end is seen 25 ms later";
  EXPECT_TRUE(LookUntil(start + absl::Milliseconds(425), kTheirs));
}

TEST_F(BurstGateTest, AWordWithoutAStatusIsACommandThatRuns) {
  EXPECT_FALSE(LookUntil(now_ + absl::Seconds(5), {.opcode = Opcode::kGetTemp}));
}

TEST_F(BurstGateTest, AnEventThatBecomesPendingIsNoCommand) {
  const absl::Duration start = now_;
  CommandWord with_event = kTheirs;
  with_event.copy_data = true;  // the same bit
  EXPECT_FALSE(LookUntil(start + absl::Milliseconds(50), kTheirs));
  EXPECT_TRUE(LookUntil(start + absl::Milliseconds(100), with_event));
}

TEST_F(BurstGateTest, ASnapshotOfTheDaemonsOwnIsNoOtherClient) {
  const absl::Duration start = now_;
  EXPECT_FALSE(LookUntil(start + absl::Milliseconds(50), kTheirs));
  EXPECT_TRUE(LookUntil(start + absl::Milliseconds(100), kOther, /*is_own=*/true));
}

TEST_F(BurstGateTest, ABurstHasItsNumberOfCommands) {
  gate_.Open(now_);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(gate_.IsOpen());
    gate_.Count(now_);
  }
  EXPECT_FALSE(gate_.IsOpen());
}

TEST_F(BurstGateTest, ABurstTakesNoLongerThanTheMailboxWasQuiet) {
  gate_.Open(now_);
  EXPECT_EQ(gate_.end(), now_ + absl::Milliseconds(100));
  gate_.Count(now_ + absl::Milliseconds(99));
  EXPECT_TRUE(gate_.IsOpen());
  gate_.Count(now_ + absl::Milliseconds(100));
  EXPECT_FALSE(gate_.IsOpen());
}

TEST_F(BurstGateTest, ThereIsOneBurstInAnInterval) {
  const absl::Duration begin = now_;
  gate_.Open(begin);
  gate_.Close(begin + absl::Milliseconds(10));
  EXPECT_EQ(gate_.next_look(), begin + absl::Milliseconds(900));
  EXPECT_FALSE(gate_.IsQuiet());
  EXPECT_TRUE(LookUntil(begin + absl::Seconds(2), kTheirs));
  EXPECT_EQ(now_, begin + absl::Seconds(1));
}

TEST_F(BurstGateTest, ALateEndDoesNotLeadToALookInThePast) {
  gate_.Open(now_);
  gate_.Close(now_ + absl::Seconds(5));
  EXPECT_EQ(gate_.next_look(), now_ + absl::Seconds(5));
}

TEST_F(BurstGateTest, ALockThatAnotherProgramHasIsTriedAgainSoon) {
  EXPECT_TRUE(LookUntil(now_ + absl::Seconds(1), kTheirs));
  gate_.Wait(now_);
  EXPECT_EQ(gate_.next_look(), now_ + BurstGate::kRetry);
  EXPECT_TRUE(gate_.IsLastLook(gate_.next_look()));
  BurstGate hasty({.quiet = absl::Milliseconds(4)});
  hasty.Wait(now_);
  EXPECT_EQ(hasty.next_look(), now_ + absl::Milliseconds(1));
}

TEST_F(BurstGateTest, AfterAnErrorTheLooksBeginAnew) {
  EXPECT_FALSE(LookUntil(now_ + absl::Milliseconds(75), kTheirs));
  const absl::Duration error = now_;
  gate_.Retreat(now_);
  EXPECT_EQ(gate_.next_look(), error + absl::Seconds(1));
  EXPECT_TRUE(LookUntil(error + absl::Seconds(2), kTheirs));
  EXPECT_EQ(now_, error + absl::Milliseconds(1100));
}

TEST_F(BurstGateTest, TheLastLookIsTheOneAfterQuiet) {
  const absl::Duration start = now_;
  EXPECT_FALSE(gate_.IsLastLook(start));
  EXPECT_FALSE(LookUntil(start + absl::Milliseconds(75), kTheirs));
  EXPECT_FALSE(gate_.IsLastLook(start + absl::Milliseconds(99)));
  EXPECT_TRUE(gate_.IsLastLook(start + absl::Milliseconds(100)));
}

TEST(BoardStoreTest, ABoardIsNotReadUnlessItIsSaid) {
  BoardStore boards;
  EXPECT_FALSE(boards.SettingsOf(3).is_read);
  boards.SetSettings(3, {.is_read = true, .bus_share = 0.1});
  EXPECT_EQ(boards.SettingsOf(3), (BoardSettings{.is_read = true, .bus_share = 0.1}));
  EXPECT_FALSE(boards.SettingsOf(4).is_read);
}

TEST(BoardStoreTest, TheNewestReading) {
  BoardStore boards;
  boards.SetSettings(3, {.is_read = true});
  EXPECT_EQ(boards.Newest(3), nullptr);
  const auto reading = std::make_shared<const BoardReading>();
  boards.Publish(3, reading);
  EXPECT_EQ(boards.Newest(3), reading);
  EXPECT_EQ(boards.Newest(4), nullptr);
}

class CountingListener final : public BoardListener {
 public:
  void OnPublish(size_t device, const std::shared_ptr<const BoardReading>&) override { devices.push_back(device); }
  std::vector<size_t> devices;
};

TEST(BoardStoreTest, ListenersSeeWhatIsPublished) {
  BoardStore boards;
  CountingListener listener;
  boards.SetSettings(3, {.is_read = true});
  boards.SetSettings(4, {.is_read = false});
  boards.AddListener(listener);
  for (const size_t device : {3, 4, 5}) boards.Publish(device, std::make_shared<const BoardReading>());
  boards.Forget(3);
  boards.Publish(3, std::make_shared<const BoardReading>());
  boards.SetSettings(3, {.is_read = true});
  boards.RemoveListener(listener);
  boards.Publish(3, std::make_shared<const BoardReading>());
  EXPECT_EQ(listener.devices, (std::vector<size_t>{3})) << "of a board that is read";
  EXPECT_EQ(boards.Newest(4), nullptr);
}

TEST(BoardStoreTest, ARemovedDeviceHasNothing) {
  BoardStore boards;
  boards.SetSettings(3, {.is_read = true});
  boards.Publish(3, std::make_shared<const BoardReading>());
  boards.Forget(3);
  EXPECT_EQ(boards.Newest(3), nullptr);
  boards.Publish(3, std::make_shared<const BoardReading>());
  EXPECT_EQ(boards.Newest(3), nullptr) << "by a collector that has not stopped yet";
  EXPECT_FALSE(boards.SettingsOf(3).is_read);
}

}  // namespace

}  // namespace sideband::daemon
