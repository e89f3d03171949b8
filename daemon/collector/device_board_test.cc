// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/device_board.h"

#include <gtest/gtest.h>

#include <utility>

#include "absl/status/status.h"
#include "daemon/mailbox/fake_mailbox.h"
#include "daemon/mailbox/pausing_clock.h"
#include "daemon/mailbox/register_port.h"
#include "proto/mailbox/board_items.h"
#include "proto/mailbox/capability.h"

namespace sideband::daemon {
namespace {

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
