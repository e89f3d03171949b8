// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/device_board.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "daemon/base/pausing_clock.h"
#include "daemon/mailbox/fake_mailbox.h"
#include "daemon/mailbox/register_port.h"
#include "proto/base/wait_until.h"
#include "proto/mailbox/board_items.h"
#include "proto/mailbox/capability.h"

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

const BoardTime kNever = {-absl::InfiniteDuration(), absl::InfinitePast()};

BoardReading SomeReading() {
  BoardReading reading;
  reading.samples[BoardGroup::kIdentity] = {absl::Seconds(5), absl::FromUnixSeconds(1005)};
  reading.samples[BoardGroup::kPower] = {absl::Seconds(9), absl::FromUnixSeconds(1009)};
  reading.identity.items[mailbox::SysId::kGuid] = "6f1c0a523d0e4a539a510d4c2a7e9b10";
  return reading;
}

TEST(BoardSnapshotTest, NothingIsPublishedOfWhatWasNotRead) {
  BoardSnapshots snapshots;
  EXPECT_EQ(snapshots.Make({}, kNever), nullptr);
}

TEST(BoardSnapshotTest, ItIsAsOldAsTheNewestSampleAndHasNoRows) {
  BoardSnapshots snapshots;
  const auto snapshot = snapshots.Make(SomeReading(), kNever);
  ASSERT_NE(snapshot, nullptr);
  EXPECT_EQ(snapshot->steady_time, absl::Seconds(9));
  EXPECT_EQ(snapshot->host_time, absl::FromUnixSeconds(1009));
  EXPECT_TRUE(snapshot->data.blocks.empty());
  EXPECT_EQ(snapshot->topology->catalog().device.ToString(), "6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10");
}

TEST(BoardSnapshotTest, ABoardThatAnswersIsNotOldWhileARoundGoesOn) {
  BoardSnapshots snapshots;
  const BoardTime answered = {absl::Seconds(15), absl::FromUnixSeconds(1015)};
  EXPECT_EQ(snapshots.Make(SomeReading(), answered)->steady_time, absl::Seconds(15));
  EXPECT_EQ(snapshots.Make(SomeReading(), answered)->host_time, absl::FromUnixSeconds(1015));
}

TEST(BoardSnapshotTest, ABoardHasOneTopology) {
  BoardSnapshots snapshots;
  BoardReading reading = SomeReading();
  const auto first = snapshots.Make(reading, kNever), second = snapshots.Make(reading, kNever);
  EXPECT_EQ(first->topology, second->topology);
  EXPECT_EQ(second->publication, 2u);
  reading.identity.items[mailbox::SysId::kGuid] = "00000000000000000000000000000001";
  EXPECT_NE(snapshots.Make(reading, kNever)->topology, first->topology) << "another board is in its place";
}

TEST(BoardSnapshotTest, WithoutAGuidThereIsNoIdentity) {
  BoardSnapshots snapshots;
  BoardReading reading = SomeReading();
  for (const char* const guid : {"", "12", "not hexadecimal"}) {
    reading.identity.items[mailbox::SysId::kGuid] = guid;
    EXPECT_TRUE(snapshots.Make(reading, kNever)->topology->catalog().device.is_nil()) << guid;
  }
}

using mailbox::Capability;
using mailbox::MailboxStatus;
using mailbox::Opcode;
using mailbox::PowerSource;

// A board that tells its total power alone.
class DeviceBoardTest : public testing::Test {
 protected:
  DeviceBoardTest() {
    id_ = store_.NewId();
    store_.SetDevices({{id_, std::make_shared<const DeviceInfo>(
                                 DeviceInfo{.name = "gpu0", .interval = absl::Seconds(1), .bus_hz = 400'000})}});
    boards_.SetSettings(id_, {.is_read = true});
    device_.answer = [this](const FakeMailbox::Command& command) -> std::optional<FakeMailbox::Reply> {
      if (command.word.opcode == Opcode::kGetCapabilities) {
        return FakeMailbox::Reply{.data = command.word.arg1 == 0 ? MaskOf(Capability::kPowerTotal) : 0};
      }
      if (command.word.opcode == Opcode::kGetPower) return FakeMailbox::Reply{.data = power_mw_};
      return FakeMailbox::Reply{.status = MailboxStatus::kErrOpcode};
    };
  }

  // Everything that is due until then.
  int RunFor(absl::Duration time) {
    int commands = 0;
    const absl::Duration end = clock_.Steady() + time;
    while (board_.NextTime() <= end) {
      clock_.Advance(board_.NextTime() - clock_.Steady());
      commands += board_.RunNext() ? 1 : 0;
    }
    clock_.Advance(end - clock_.Steady());
    return commands;
  }
  std::optional<double> Watts() {
    const auto reading = boards_.Newest(id_);
    return reading == nullptr ? std::nullopt : Find(reading->power.watts, PowerSource::kTotal);
  }

  Store store_{{}};
  size_t id_ = 0;
  BoardStore boards_;
  FakeClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  FakeMailbox device_;
  uint32_t power_mw_ = 250'000;
  RegisterPort port_{device_, FakeMailbox::kAddress, [](absl::string_view) {}};
  MailboxSession session_{port_, [](absl::Duration) {}};
  BusLock lock_{{}};
  DeviceBoard board_{id_, session_, lock_, {store_, &boards_, clock_}};
};

TEST_F(DeviceBoardTest, NothingIsWrittenToADeviceOfUnknownRegisters) {
  EXPECT_EQ(board_.NextTime(), absl::InfiniteDuration());
  EXPECT_FALSE(board_.RunNext());
  EXPECT_TRUE(device_.commands.empty());
}

TEST_F(DeviceBoardTest, ReadsWhatTheBoardAnnounces) {
  board_.SetReachable(true);
  RunFor(absl::Seconds(3));
  EXPECT_EQ(Watts(), 250.0);
  power_mw_ = 300'000;
  RunFor(absl::Seconds(2));
  EXPECT_EQ(Watts(), 300.0);
  EXPECT_TRUE(device_.CommandsOf(Opcode::kGetTemp).empty());
}

TEST_F(DeviceBoardTest, ItIsOffByDefault) {
  board_.SetReachable(true);
  boards_.SetSettings(id_, {});
  EXPECT_FALSE(board_.is_wanted());
  EXPECT_EQ(board_.NextTime(), absl::InfiniteDuration());
  EXPECT_EQ(RunFor(absl::Seconds(5)), 0);
}

TEST_F(DeviceBoardTest, ChangedSettingsBeginAnew) {
  board_.SetReachable(true);
  RunFor(absl::Seconds(3));
  boards_.SetSettings(id_, {});
  EXPECT_EQ(RunFor(absl::Seconds(3)), 0);
  boards_.SetSettings(id_, {.is_read = true, .bus_share = 0.5});
  EXPECT_GT(RunFor(absl::Seconds(3)), 0);
}

constexpr BoardSettings kShared = {.is_read = true, .is_shared = true, .burst = 4, .quiet = absl::Milliseconds(100)};

TEST_F(DeviceBoardTest, ASharedMailboxIsUsedInBursts) {
  boards_.SetSettings(id_, kShared);
  board_.SetReachable(true);
  EXPECT_TRUE(board_.is_shared());
  size_t before = 0;
  for (int second = 0; second < 10; ++second) {
    RunFor(absl::Seconds(1));
    EXPECT_LE(device_.commands.size() - before, 4u);
    before = device_.commands.size();
  }
  EXPECT_EQ(Watts(), 250.0);
}

TEST_F(DeviceBoardTest, ACommandThatIsInterruptedRunsAgainInTheNextBurst) {
  boards_.SetSettings(id_, kShared);
  board_.SetReachable(true);
  RunFor(absl::Seconds(10));
  ASSERT_EQ(Watts(), 250.0);
  power_mw_ = 300'000;
  device_.before = [this, left = 1](const smbus::Transfer& transfer) mutable {
    const bool is_status = IsReadOf(transfer, mailbox::kCommandRegister);
    const bool is_power = device_.commands.back().word.opcode == Opcode::kGetPower;
    if (is_status && is_power && left-- > 0) device_.RunElsewhere({.word = {.opcode = Opcode::kGetTemp}});
  };
  RunFor(absl::Seconds(4));
  EXPECT_EQ(Watts(), 300.0) << "sooner than after an error";
}

TEST_F(DeviceBoardTest, ADeviceWithItsOwnRegistersIsNotShared) {
  device_.version = mailbox::ExtensionVersion::kTwo;
  const auto board = std::exchange(device_.answer, [](const FakeMailbox::Command&) { return std::nullopt; });
  ASSERT_TRUE(session_.CheckExtension().ok());
  device_.answer = board;
  boards_.SetSettings(id_, kShared);
  board_.SetReachable(true);
  EXPECT_FALSE(board_.is_shared());
  EXPECT_GT(RunFor(absl::Seconds(1)), 4);
}

TEST_F(DeviceBoardTest, ABurstEndsWithItsDevice) {
  boards_.SetSettings(id_, kShared);
  board_.SetReachable(true);
  const TimeLimit limit("the lock of a burst");
  while (!lock_.is_held()) {
    clock_.Advance(absl::Milliseconds(1));
    board_.RunNext();
  }
  board_.SetReachable(false);
  EXPECT_FALSE(lock_.is_held());
}

TEST_F(DeviceBoardTest, ABurstEndsWithItsSettings) {
  boards_.SetSettings(id_, kShared);
  board_.SetReachable(true);
  const TimeLimit limit("the lock of a burst");
  while (!lock_.is_held()) {
    clock_.Advance(absl::Milliseconds(1));
    board_.RunNext();
  }
  boards_.SetSettings(id_, {});
  board_.RunNext();
  EXPECT_FALSE(lock_.is_held());
}

TEST_F(DeviceBoardTest, AfterAnErrorTheReadingStays) {
  board_.SetReachable(true);
  RunFor(absl::Seconds(3));
  device_.is_present = false;
  power_mw_ = 1;
  RunFor(absl::Seconds(30));
  EXPECT_EQ(Watts(), 250.0);
  device_.is_present = true;
  RunFor(absl::Minutes(2));
  EXPECT_EQ(Watts(), 0.001);
}

TEST_F(DeviceBoardTest, TheTimeOfAnAnswerIsWithinTheErrorWhereverTheThreadPauses) {
  int at = -1, readings = 0;
  const PausingClock clock(clock_, [&](int) { return absl::Milliseconds(readings++ == at ? 10 : 0); });
  DeviceBoard board(id_, session_, lock_, {store_, &boards_, clock});
  board.SetReachable(true);
  for (int i = 0; i < 100; ++i) {
    if (!board.RunNext()) clock_.Advance(absl::Milliseconds(50));
  }
  for (at = 0, readings = 1; at < readings; ++at) {
    readings = 0;
    const auto snapshot = board.SnapshotOfReading();
    ASSERT_NE(snapshot, nullptr);
    // The fake wall clock was never set.
    const absl::Time answered = absl::UnixEpoch() + snapshot->steady_time;
    EXPECT_LE(absl::AbsDuration(snapshot->host_time - answered), snapshot->host_time_error) << "paused at " << at;
  }
  EXPECT_GE(readings, 3);
}

TEST_F(DeviceBoardTest, ARemovedDeviceIsNotRead) {
  board_.SetReachable(true);
  store_.SetDevices({});
  EXPECT_FALSE(board_.RunNext());
}

}  // namespace

}  // namespace sideband::daemon
