// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/board_bursts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/mailbox/fake_mailbox.h"
#include "daemon/mailbox/register_port.h"

namespace sideband::daemon {
namespace {

using mailbox::CommandWord;
using mailbox::Opcode;

constexpr CommandWord kOurs = {.opcode = Opcode::kGetPower, .execute = true};
constexpr CommandWord kTheirs = {.opcode = Opcode::kGetTemp, .execute = true};

class BoardBurstsTest : public testing::Test {
 protected:
  BoardBurstsTest() {
    device_.answer = [](const FakeMailbox::Command&) { return FakeMailbox::Reply{.data = 1}; };
  }
  ~BoardBurstsTest() override { std::filesystem::remove(path_); }

  // A command that is always due, whenever it may run, until then. Returns when each has run, in ms.
  std::vector<int64_t> RunUntil(absl::Duration end) {
    std::vector<int64_t> ran;
    for (; now_ < end; now_ += absl::Milliseconds(1)) {
      const auto may_run = bursts_.MayRun(now_, now_);
      EXPECT_TRUE(may_run.ok()) << may_run.status();
      if (!may_run.ok() || !*may_run) continue;
      ran.push_back(absl::ToInt64Milliseconds(now_));
      Run();
    }
    return ran;
  }
  void Run() { bursts_.Follow(session_.RunBase(kOurs, std::nullopt, {.data = true}, 1).status(), now_); }
  bool MayRun() { return *bursts_.MayRun(now_, now_); }

  const std::string path_ = absl::StrCat(testing::TempDir(), "/board_bursts_", getpid(), ".lock");
  FakeMailbox device_;
  std::map<std::string, int> outcomes_;
  RegisterPort port_{device_, FakeMailbox::kAddress,
                     [this](absl::string_view outcome) { ++outcomes_[std::string(outcome)]; }};
  MailboxSession session_{port_, [](absl::Duration) {}};
  BusLock lock_{{.path = path_, .is_made = true}};
  BusLock others_{{.path = path_, .is_made = true}};
  absl::Duration now_;
  BoardBursts bursts_{
      session_, lock_, {.commands = 3, .quiet = absl::Milliseconds(100), .interval = absl::Milliseconds(500)}};
};

TEST_F(BoardBurstsTest, CommandsRunInBurstsAfterTheMailboxWasQuiet) {
  EXPECT_EQ(RunUntil(absl::Milliseconds(1000)), (std::vector<int64_t>{100, 101, 102, 600, 601, 602}));
}

TEST_F(BoardBurstsTest, NothingIsWrittenBeforeABurst) {
  RunUntil(absl::Milliseconds(100));
  EXPECT_TRUE(device_.commands.empty());
  for (const smbus::Transfer& transfer : device_.transfers) EXPECT_FALSE(IsWrite(transfer));
}

TEST_F(BoardBurstsTest, AnotherClientsCommandPostponesTheBurst) {
  RunUntil(absl::Milliseconds(90));
  device_.RunElsewhere({.word = kTheirs});
  EXPECT_EQ(RunUntil(absl::Milliseconds(205)), (std::vector<int64_t>{200, 201, 202}));
}

TEST_F(BoardBurstsTest, ABusyMailboxIsNeverWrittenTo) {
  for (int i = 0; i < 100; ++i) {
    device_.RunElsewhere({.word = {.opcode = Opcode::kGetTemp, .arg1 = static_cast<uint8_t>(i % 2)}});
    EXPECT_TRUE(RunUntil(now_ + absl::Milliseconds(60)).empty());
  }
}

TEST_F(BoardBurstsTest, AnInterruptedBurstEnds) {
  RunUntil(absl::Milliseconds(100));
  ASSERT_TRUE(MayRun());
  device_.before = [&, left = 1](const smbus::Transfer& transfer) mutable {
    if (IsReadOf(transfer, mailbox::kCommandRegister) && left-- > 0) device_.RunElsewhere({.word = kTheirs});
  };
  Run();
  EXPECT_EQ(outcomes_["interference"], 1);
  EXPECT_FALSE(lock_.is_held());
  device_.before = [](const smbus::Transfer&) {};
  EXPECT_EQ(RunUntil(absl::Milliseconds(650)), (std::vector<int64_t>{600, 601, 602})) << "in the next interval";
}

TEST_F(BoardBurstsTest, TheLockIsHeldInABurstAlone) {
  EXPECT_EQ(others_.TryAcquire(), absl::StatusOr<bool>(true));
  others_.Release();
  RunUntil(absl::Milliseconds(101));
  EXPECT_EQ(others_.TryAcquire(), absl::StatusOr<bool>(false));
  RunUntil(absl::Milliseconds(103));
  EXPECT_EQ(others_.TryAcquire(), absl::StatusOr<bool>(true));
}

TEST_F(BoardBurstsTest, AnotherProgramsLockIsAwaited) {
  ASSERT_EQ(others_.TryAcquire(), absl::StatusOr<bool>(true));
  EXPECT_TRUE(RunUntil(absl::Milliseconds(300)).empty());
  others_.Release();
  EXPECT_EQ(RunUntil(absl::Milliseconds(310)), (std::vector<int64_t>{300, 301, 302}));
}

TEST_F(BoardBurstsTest, WhatAProgramHasDoneUnderTheLockCounts) {
  ASSERT_EQ(others_.TryAcquire(), absl::StatusOr<bool>(true));
  EXPECT_TRUE(RunUntil(absl::Milliseconds(299)).empty());
  device_.RunElsewhere({.word = kTheirs});
  others_.Release();
  EXPECT_EQ(RunUntil(absl::Milliseconds(410)), (std::vector<int64_t>{400, 401, 402}));
}

TEST_F(BoardBurstsTest, ALockThatCannotBeTakenIsAnError) {
  BusLock none({.path = path_ + "/none", .is_made = true});
  BoardBursts bursts(session_, none, {.quiet = absl::Milliseconds(100)});
  std::vector<int64_t> errors;
  for (; now_ <= absl::Milliseconds(1300); now_ += absl::Milliseconds(1)) {
    const auto may_run = bursts.MayRun(now_, now_);
    if (absl::IsUnavailable(may_run.status())) errors.push_back(absl::ToInt64Milliseconds(now_));
  }
  EXPECT_EQ(errors, (std::vector<int64_t>{100, 1200})) << "not at each look";
  EXPECT_TRUE(device_.commands.empty());
}

TEST_F(BoardBurstsTest, ItIsLookedAtBeforeACommandIsDue) {
  const absl::Duration due = absl::Seconds(60);
  EXPECT_EQ(bursts_.NextTime(due), due - absl::Milliseconds(100));
  EXPECT_FALSE(*bursts_.MayRun(due, now_));
  EXPECT_TRUE(device_.transfers.empty());
}

TEST_F(BoardBurstsTest, ABurstThatHasNothingToDoForLongEnds) {
  RunUntil(absl::Milliseconds(101));
  EXPECT_FALSE(*bursts_.MayRun(now_ + absl::Milliseconds(20), now_));
  EXPECT_TRUE(lock_.is_held());
  EXPECT_FALSE(*bursts_.MayRun(now_ + absl::Milliseconds(200), now_));
  EXPECT_FALSE(lock_.is_held());
}

TEST_F(BoardBurstsTest, AfterAPauseTheBurstGoesOnIfNobodyElseHasBegun) {
  for (const bool is_interrupted : {false, true}) {
    while (!MayRun()) now_ += absl::Milliseconds(1);
    Run();
    EXPECT_FALSE(*bursts_.MayRun(now_ + absl::Milliseconds(20), now_));
    now_ += absl::Milliseconds(20);
    if (is_interrupted) device_.RunElsewhere({.word = kTheirs});
    EXPECT_EQ(MayRun(), !is_interrupted);
    EXPECT_EQ(lock_.is_held(), !is_interrupted);
    bursts_.End(now_);
  }
}

TEST_F(BoardBurstsTest, TheLockEndsWithTheBursts) {
  {
    BoardBursts bursts(session_, lock_, {.quiet = absl::Milliseconds(1)});
    while (!*bursts.MayRun(now_, now_)) now_ += absl::Milliseconds(1);
    EXPECT_TRUE(lock_.is_held());
  }
  EXPECT_FALSE(lock_.is_held());
}

}  // namespace
}  // namespace sideband::daemon
