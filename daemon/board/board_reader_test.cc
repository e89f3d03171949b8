// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/board_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/board/fake_board.h"
#include "proto/mailbox/board_items.h"

namespace sideband::daemon {
namespace {

using mailbox::BoardEvent;
using mailbox::Capability;
using mailbox::Opcode;
using mailbox::PowerSource;
using mailbox::SysId;

class BoardReaderTest : public testing::Test {
 protected:
  BoardReaderTest() {
    board_.Announce(Capability::kPowerTotal);
    board_.Announce(Capability::kTempGpu0);
    board_.Announce(Capability::kSerialNumber);
    board_.Set(Opcode::kGetPower, 0, 0, 100'000);
    board_.Set(Opcode::kGetTemp, 0, 0, 45 << 8);
    board_.SetItem(SysId::kSerialNumber, "one");
  }
  absl::StatusOr<BoardStep> Step() {
    const size_t before = board_.log.size();
    auto step = reader_.Step(now_);
    EXPECT_LE(board_.log.size() - before, 1u);
    return step;
  }
  void Advance(absl::Duration by) {
    now_.steady += by;
    now_.wall += by;
  }
  // As a caller does, for a time; each command takes 2.5 ms.
  void RunFor(absl::Duration time) {
    const absl::Duration end = now_.steady + time;
    while (now_.steady < end) {
      const auto step = Step();
      const bool is_idle = step.ok() && *step == BoardStep::kIdle;
      const absl::Duration next = std::min(end, reader_.NextTime(now_.steady)) - now_.steady;
      Advance(is_idle ? std::max(next, absl::Nanoseconds(1)) : absl::Microseconds(2500));
    }
  }
  std::optional<double> Power() { return Find(reader_.reading()->power.watts, PowerSource::kTotal); }
  absl::Duration AgeOf(BoardGroup group) { return now_.steady - reader_.reading()->samples.at(group).steady; }

  FakeBoard board_;
  std::vector<std::string> reports_;
  BoardTime now_ = {absl::Seconds(1000), absl::FromUnixSeconds(1'000'000)};
  BoardReader reader_{board_, {}, [this](absl::string_view group, absl::string_view what) {
                        reports_.push_back(absl::StrCat(group, ": ", what));
                      }};
};

TEST_F(BoardReaderTest, ReadsCapabilitiesFirstAndOneCommandAtATime) {
  EXPECT_TRUE(reader_.reading()->samples.empty());
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(Step().ok());
    EXPECT_EQ(board_.log.size(), i + 1u);
    EXPECT_EQ(board_.log.back().word.opcode, Opcode::kGetCapabilities);
  }
}

TEST_F(BoardReaderTest, ReadsWhatIsAnnounced) {
  RunFor(absl::Milliseconds(500));
  EXPECT_EQ(Power(), 100);
  EXPECT_EQ(reader_.reading()->temperature.celsius.at(mailbox::TempSensor::kGpu0), 45);
  EXPECT_EQ(reader_.reading()->identity.items.at(SysId::kSerialNumber), "one");
  EXPECT_EQ(board_.CountOf(Opcode::kGetNvlinkInfo), 0u);
  EXPECT_EQ(board_.CountOf(Opcode::kGetEccV6), 0u);
  EXPECT_TRUE(reports_.empty());
}

TEST_F(BoardReaderTest, ReadsEachSecond) {
  RunFor(absl::Milliseconds(500));
  board_.log.clear();
  RunFor(absl::Seconds(10));
  EXPECT_EQ(board_.CountOf(Opcode::kGetPower), 10u);
  EXPECT_EQ(board_.CountOf(Opcode::kGetSysId), 0u);
  EXPECT_LE(AgeOf(BoardGroup::kPower), absl::Seconds(1));
}

TEST_F(BoardReaderTest, APublishedReadingDoesNotChange) {
  RunFor(absl::Milliseconds(500));
  const auto before = reader_.reading();
  board_.Set(Opcode::kGetPower, 0, 0, 200'000);
  RunFor(absl::Seconds(1));
  EXPECT_EQ(before->power.watts.at(PowerSource::kTotal), 100);
  EXPECT_EQ(Power(), 200);
}

TEST_F(BoardReaderTest, ACapabilityThatIsLostTakesItsValuesAlong) {
  RunFor(absl::Milliseconds(500));
  board_.Withdraw(Capability::kPowerTotal);
  RunFor(absl::Seconds(61));
  EXPECT_EQ(Power(), std::nullopt);
  EXPECT_FALSE(reader_.reading()->samples.contains(BoardGroup::kPower));
  board_.log.clear();
  RunFor(absl::Seconds(5));
  EXPECT_EQ(board_.CountOf(Opcode::kGetPower), 0u);
  board_.Announce(Capability::kPowerTotal);
  RunFor(absl::Seconds(61));
  EXPECT_EQ(Power(), 100);
}

TEST_F(BoardReaderTest, ANewCapabilityReadsWhatIsReadOnceAgain) {
  RunFor(absl::Milliseconds(500));
  board_.Announce(Capability::kMarketingName);
  board_.SetItem(SysId::kMarketingName, "name");
  RunFor(absl::Seconds(61));
  EXPECT_EQ(reader_.reading()->identity.items.at(SysId::kMarketingName), "name");
}

TEST_F(BoardReaderTest, AFailingBusLeavesTheLastReading) {
  RunFor(absl::Milliseconds(500));
  board_.bus = absl::UnavailableError("NACK");
  RunFor(absl::Seconds(5));
  EXPECT_EQ(Power(), 100);
  EXPECT_GE(AgeOf(BoardGroup::kPower), absl::Seconds(5));
  board_.bus = absl::OkStatus();
  RunFor(absl::Seconds(2));
  EXPECT_LE(AgeOf(BoardGroup::kPower), absl::Seconds(1));
}

TEST_F(BoardReaderTest, AnErrorOfTheBusIsReturned) {
  board_.bus = absl::UnavailableError("NACK");
  EXPECT_EQ(Step().status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(BoardReaderTest, ARestartBeginsCountsAnewAndReadsTheIdentityAgain) {
  board_.Announce(Capability::kEnergy);
  board_.Set(Opcode::kGetEnergy, 0, 0, 1000);
  RunFor(absl::Milliseconds(500));
  const RunningCount before = reader_.reading()->energy.millijoules.at(PowerSource::kTotal);
  board_.pending_events = mailbox::MaskOf(BoardEvent::kWarmRestart);
  board_.Set(Opcode::kGetEnergy, 0, 0, 2000);
  board_.log.clear();
  RunFor(absl::Seconds(3));
  const RunningCount after = reader_.reading()->energy.millijoules.at(PowerSource::kTotal);
  EXPECT_EQ(after.value, 2000u);
  EXPECT_GT(after.created, before.created);
  EXPECT_GE(board_.CountOf(Opcode::kGetSysId), 4u);
  EXPECT_EQ(reader_.reading()->events.counts.at(BoardEvent::kWarmRestart).value, 1u);
  EXPECT_EQ(reports_, std::vector<std::string>{"board: it was reset, or is another one"});
}

TEST_F(BoardReaderTest, AnotherBoardIsRecognisedByItsSerialNumber) {
  RunFor(absl::Milliseconds(500));
  board_.SetItem(SysId::kSerialNumber, "two");
  RunFor(absl::Seconds(62));
  EXPECT_EQ(reader_.reading()->identity.items.at(SysId::kSerialNumber), "two");
  EXPECT_EQ(reports_.size(), 1u);
}

TEST_F(BoardReaderTest, KeepsToItsShareOfTheBus) {
  board_.Announce(Capability::kPerformanceMonitoring);
  for (const mailbox::MetricRow& row : mailbox::kMetrics) {
    board_.metrics[{}][row.metric] = 0;
    for (uint8_t partition = 0; partition < 8; ++partition) board_.metrics[{.partition = partition}][row.metric] = 0;
  }
  RunFor(absl::Seconds(10));
  board_.log.clear();
  RunFor(absl::Seconds(60));
  // 30'000 bits a second, of which a command takes 168 at least and 242 mostly.
  EXPECT_LE(board_.log.size(), 61u * 30'000 / 168);
  EXPECT_GE(board_.log.size(), 59u * 30'000 / 260);
  // Nothing starves.
  EXPECT_LE(AgeOf(BoardGroup::kCapabilities), absl::Seconds(90));
  EXPECT_LE(AgeOf(BoardGroup::kPower), absl::Seconds(10));
}

TEST_F(BoardReaderTest, AnEventThatAReplyShowsIsReadNext) {
  RunFor(absl::Seconds(3) + absl::Milliseconds(100));
  board_.shows_pending_events = true;
  board_.pending_events = mailbox::MaskOf(BoardEvent::kEccToggled);
  // The temperature, the first of the next second, shows it. Without that, the power would come before the events.
  board_.log.clear();
  RunFor(absl::Seconds(1));
  ASSERT_GE(board_.log.size(), 4u);
  EXPECT_EQ(board_.log[0].word.opcode, Opcode::kGetTemp);
  EXPECT_EQ(board_.log[1].word.opcode, Opcode::kRegisterAccess);
  EXPECT_EQ(board_.log[2].word.opcode, Opcode::kRegisterAccess) << "it is cleared";
  EXPECT_EQ(board_.log[3].word.opcode, Opcode::kGetPower);
  EXPECT_EQ(reader_.reading()->events.counts.at(BoardEvent::kEccToggled).value, 1u);
}

TEST_F(BoardReaderTest, AnEventThatCannotBeClearedIsNoReasonToLookAgain) {
  board_.shows_pending_events = true;
  board_.errors[Opcode::kRegisterAccess] = mailbox::MailboxStatus::kErrNotAvailable;
  board_.pending_events = mailbox::MaskOf(BoardEvent::kEccToggled);
  RunFor(absl::Seconds(3));
  board_.log.clear();
  RunFor(absl::Seconds(10));
  EXPECT_LE(board_.CountOf(Opcode::kRegisterAccess), 11u);
}

TEST_F(BoardReaderTest, HintsThatComeAndGoLeaveTheOthersTheirTurns) {
  bool shows = false;
  board_.lie = [&](const FakeBoard::Ran& ran) -> std::optional<BoardReply> {
    if (ran.word.opcode != Opcode::kGetPower && ran.word.opcode != Opcode::kGetTemp) return std::nullopt;
    BoardReply reply{.word = ran.word, .data = 1000};
    reply.word.status = mailbox::MailboxStatus::kSuccess;
    reply.word.copy_data = shows = !shows;
    return reply;
  };
  RunFor(absl::Seconds(3));
  board_.log.clear();
  RunFor(absl::Seconds(10));
  EXPECT_GE(board_.CountOf(Opcode::kGetPower), 9u);
  EXPECT_GE(board_.CountOf(Opcode::kGetTemp), 9u);
  EXPECT_LE(board_.CountOf(Opcode::kRegisterAccess), 31u);
}

TEST_F(BoardReaderTest, WaitsBetweenPolls) {
  board_.AnnounceScratch();
  board_.Announce(Capability::kMemoryCapacity);
  board_.async[mailbox::AsyncType::kMemoryCapacity] = {.dwords = {1, 2}, .unfinished_polls = 10};
  RunFor(absl::Seconds(3));
  EXPECT_EQ(reader_.reading()->memory.used_mib, 2u);
}

TEST_F(BoardReaderTest, ABoardWithoutCapabilitiesIsAskedForThoseAlone) {
  board_.capabilities = {};
  RunFor(absl::Seconds(30));
  EXPECT_EQ(board_.log.size(), 6u);
}

}  // namespace
}  // namespace sideband::daemon
