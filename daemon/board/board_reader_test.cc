// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/board_reader.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "daemon/board/fake_board.h"
#include "daemon/board/group_round.h"
#include "proto/mailbox/board_items.h"

namespace sideband::daemon {
namespace {

using mailbox::AsyncStatus;
using mailbox::BoardEvent;
using mailbox::Capability;
using mailbox::MailboxStatus;
using mailbox::Opcode;
using mailbox::PowerSource;
using mailbox::SysId;

constexpr absl::Duration AtMs(int64_t ms) { return absl::Milliseconds(ms); }

// A bus of 100 kHz, of which 30'000 bits a second are the board's.
class BoardScheduleTest : public testing::Test {
 protected:
  // Reads what is due, as it is due, up to `until`; the instants in ms of each group.
  std::map<BoardGroup, std::vector<int64_t>> RunUntil(absl::Duration until) {
    std::map<BoardGroup, std::vector<int64_t>> read;
    while (now_ < until) {
      const auto group = schedule_.NextDue(now_);
      if (!group) {
        now_ = schedule_.NextTime(now_);
        continue;
      }
      read[*group].push_back(absl::ToInt64Milliseconds(now_));
      schedule_.Charge(schedule_.CostOf(*group), now_);
      now_ += absl::Microseconds(10 * static_cast<int64_t>(schedule_.CostOf(*group)));
      schedule_.Finish(*group, true, now_);
    }
    return read;
  }
  BoardSchedule schedule_{{}};
  absl::Duration now_;
};

TEST_F(BoardScheduleTest, NothingActiveIsNothingDue) {
  EXPECT_EQ(schedule_.NextDue(AtMs(0)), std::nullopt);
  EXPECT_EQ(schedule_.NextTime(AtMs(0)), absl::InfiniteDuration());
}

TEST_F(BoardScheduleTest, ReadsEachClassByItsPeriod) {
  schedule_.Activate(BoardGroup::kPower, AtMs(0));
  schedule_.Activate(BoardGroup::kFlags, AtMs(0));
  schedule_.Activate(BoardGroup::kEcc, AtMs(0));
  schedule_.Activate(BoardGroup::kThresholds, AtMs(0));
  auto read = RunUntil(absl::Seconds(31));
  EXPECT_EQ(read[BoardGroup::kPower].size(), 31u);
  EXPECT_EQ(read[BoardGroup::kPower][7], 7000);
  EXPECT_EQ(read[BoardGroup::kFlags], (std::vector<int64_t>{0, 10'000, 20'000, 30'000}));
  EXPECT_EQ(read[BoardGroup::kEcc], (std::vector<int64_t>{0, 30'000}));
  EXPECT_EQ(read[BoardGroup::kThresholds], std::vector<int64_t>{0});
}

TEST_F(BoardScheduleTest, TheEarliestDeadlineIsFirst) {
  schedule_.Activate(BoardGroup::kFlags, AtMs(0));  // until 10 s
  schedule_.Activate(BoardGroup::kPower, AtMs(500));
  EXPECT_EQ(schedule_.NextDue(AtMs(500)), BoardGroup::kPower);
  schedule_.Finish(BoardGroup::kPower, true, AtMs(500));
  EXPECT_EQ(schedule_.NextDue(AtMs(500)), BoardGroup::kFlags);
}

TEST_F(BoardScheduleTest, WhatDoesNotFitIsReadLessOften) {
  schedule_.Activate(BoardGroup::kMetrics, AtMs(0));
  schedule_.Activate(BoardGroup::kFlags, AtMs(0));
  schedule_.SetCost(BoardGroup::kMetrics, 90'000);  // worth three seconds
  schedule_.SetCost(BoardGroup::kFlags, 600);
  auto read = RunUntil(absl::Seconds(60));
  EXPECT_GE(read[BoardGroup::kMetrics].size(), 18u);
  EXPECT_LE(read[BoardGroup::kMetrics].size(), 21u);
  // Nothing starves.
  EXPECT_GE(read[BoardGroup::kFlags].size(), 5u);
}

TEST_F(BoardScheduleTest, AGroupBeginsOnceItFits) {
  schedule_.Activate(BoardGroup::kPower, AtMs(0));
  schedule_.SetCost(BoardGroup::kPower, 3000);
  schedule_.Charge(30'000, AtMs(0));
  EXPECT_EQ(schedule_.NextDue(AtMs(0)), std::nullopt);
  EXPECT_EQ(schedule_.NextDue(AtMs(99)), std::nullopt);
  EXPECT_NEAR(absl::ToDoubleMilliseconds(schedule_.NextTime(AtMs(99))), 100, 0.001);
  EXPECT_EQ(schedule_.NextDue(schedule_.NextTime(AtMs(99))), BoardGroup::kPower);
}

TEST_F(BoardScheduleTest, ACommandAboveTheBucketFitsWhenItIsFull) {
  BoardSchedule slow({.bus_hz = 1000, .bus_share = 0.1});  // 100 bits
  EXPECT_TRUE(slow.Fits(242, AtMs(0)));
  slow.Charge(242, AtMs(0));
  EXPECT_FALSE(slow.Fits(242, AtMs(2400)));
  EXPECT_TRUE(slow.Fits(242, AtMs(2421)));
}

TEST_F(BoardScheduleTest, AFailureIsTriedAgainAfterThePeriodOrTenSeconds) {
  schedule_.Activate(BoardGroup::kPower, AtMs(0));
  schedule_.Finish(BoardGroup::kPower, false, AtMs(100));
  EXPECT_EQ(schedule_.NextTime(AtMs(100)), AtMs(1100));
  schedule_.Deactivate(BoardGroup::kPower);
  schedule_.Activate(BoardGroup::kThresholds, AtMs(0));
  schedule_.Finish(BoardGroup::kThresholds, false, AtMs(100));
  EXPECT_EQ(schedule_.NextTime(AtMs(100)), AtMs(10'100));
}

TEST_F(BoardScheduleTest, MissedReadingsAreNotMadeUpFor) {
  schedule_.Activate(BoardGroup::kPower, AtMs(0));
  schedule_.Finish(BoardGroup::kPower, true, AtMs(5500));
  EXPECT_EQ(schedule_.NextTime(AtMs(5500)), AtMs(5500));
  schedule_.Finish(BoardGroup::kPower, true, AtMs(5600));
  EXPECT_EQ(schedule_.NextTime(AtMs(5600)), AtMs(6500));
}

TEST_F(BoardScheduleTest, ActivatingTwiceChangesNothingAndMakeDueDoes) {
  schedule_.Activate(BoardGroup::kThresholds, AtMs(0));
  schedule_.Finish(BoardGroup::kThresholds, true, AtMs(0));
  schedule_.Activate(BoardGroup::kThresholds, AtMs(10));
  EXPECT_EQ(schedule_.NextDue(AtMs(10)), std::nullopt);
  schedule_.MakeDue(BoardGroup::kThresholds, AtMs(20));
  EXPECT_EQ(schedule_.NextDue(AtMs(20)), BoardGroup::kThresholds);
  schedule_.Deactivate(BoardGroup::kThresholds);
  EXPECT_EQ(schedule_.NextDue(AtMs(20)), std::nullopt);
}

// In any time T, at most share · (T + 1 s) is used, and a command more where it is above the bucket.
RC_GTEST_PROP(BoardSchedulePropertyTest, TheShareIsKept, ()) {
  const auto bus_hz = static_cast<uint32_t>(*rc::gen::inRange(1000, 1'000'000));
  const double share = *rc::gen::inRange(1, 101) / 100.0;
  BoardSchedule schedule({.bus_hz = bus_hz, .bus_share = share});
  const double rate = bus_hz * share;
  double used = 0, most = 0;
  absl::Duration now;
  for (int i = 0; i < 200; ++i) {
    const auto bits = static_cast<uint64_t>(*rc::gen::inRange(100, 500));
    const absl::Duration fits = schedule.TimeToFit(bits, now);
    RC_ASSERT(fits >= now);
    now = fits;
    RC_ASSERT(schedule.Fits(bits, now));
    schedule.Charge(bits, now);
    used += static_cast<double>(bits);
    most = std::max(most, static_cast<double>(bits));
    RC_ASSERT(used <= rate * (absl::ToDoubleSeconds(now) + 1) + most + 1);
  }
}

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
  // Steps as a caller does, for a time; each command takes 2.5 ms.
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

// For any capabilities and any replies, whatever their words: no crash, no round above its bound, and no value out of
// its range.

// Random replies, of which many are near what is expected, so that rounds get far.
class RandomReplies {
 public:
  explicit RandomReplies(uint32_t seed) : random_(seed) {}

  BoardReply ReplyTo(const FakeBoard::Ran& ran) {
    BoardReply reply = {.word = ran.word, .data = Dword(), .extended_data = Dword()};
    if (OneIn(8)) reply.word = mailbox::CommandWord::Decode(Dword());
    reply.word.status = Status();
    if (ran.word.opcode == Opcode::kAsyncRequest && OneIn(2)) reply.data = Async();
    return reply;
  }
  BoardCapabilities Capabilities() {
    BoardCapabilities capabilities;
    for (uint32_t& dword : capabilities.dwords) dword = Dword() | (OneIn(2) ? Dword() : 0);
    return capabilities;
  }

 private:
  bool OneIn(uint32_t n) { return random_() % n == 0; }
  uint32_t Dword() {
    const uint32_t dword = static_cast<uint32_t>(random_());
    return OneIn(3) ? dword : dword >> dword % 32;
  }
  MailboxStatus Status() {
    if (!OneIn(4)) return MailboxStatus::kSuccess;
    return OneIn(2) ? mailbox::kStatuses[random_() % std::size(mailbox::kStatuses)].status
                    : static_cast<MailboxStatus>(random_() % 32);
  }
  uint32_t Async() { return static_cast<uint32_t>(OneIn(2) ? AsyncStatus::kMoreProcessing : AsyncStatus::kSuccess); }

  std::mt19937 random_;
};

template <typename Map>
bool AllWithin(const Map& values, double least, double most) {
  return std::ranges::all_of(values, [=](const auto& entry) { return entry.second >= least && entry.second <= most; });
}

bool IsWithin(const std::optional<double>& value, double most) { return !value || (*value >= 0 && *value <= most); }

bool IsPrintable(const std::string& text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return absl::ascii_isprint(static_cast<unsigned char>(c)); });
}

void CheckPhysics(const BoardReading& reading) {
  RC_ASSERT(AllWithin(reading.temperature.celsius, kCelsiusMin, kCelsiusMax));
  RC_ASSERT(AllWithin(reading.thresholds.celsius, kCelsiusMin, kCelsiusMax));
  // Expressions in RC_ASSERT have no short circuit.
  const double margin = reading.margin.celsius.value_or(0);
  RC_ASSERT(margin >= kCelsiusMin);
  RC_ASSERT(margin <= kCelsiusMax);
  RC_ASSERT(AllWithin(reading.power.watts, 0, kWattsMax));
  for (const auto& [source, limits] : reading.power_limits.limits) {
    for (const auto& limit : {limits.current, limits.minimum, limits.maximum, limits.standard}) {
      RC_ASSERT(IsWithin(limit, kWattsMax));
    }
  }
  RC_ASSERT(AllWithin(reading.clocks.current_mhz, 0, kMhzMax));
  RC_ASSERT(AllWithin(reading.clock_limits.minimum_mhz, 0, kMhzMax));
  RC_ASSERT(AllWithin(reading.clock_limits.maximum_mhz, 0, kMhzMax));
  RC_ASSERT(reading.clocks.performance_state.value_or(0) < mailbox::kPStateInvalid);
}

void CheckMemory(const BoardReading& reading) {
  for (const auto& mib : {reading.memory.used_mib, reading.memory.reserved_mib, reading.memory.total_mib}) {
    RC_ASSERT(mib.value_or(0) <= kMemoryMibMax);
  }
}

void CheckLinks(const BoardReading& reading) {
  RC_ASSERT(reading.nvlink.links.size() <= mailbox::kNvlinksMax);
  for (const NvlinkStatus& link : reading.nvlink.links) {
    RC_ASSERT(link.bits_per_second.value_or(0) <= uint64_t{kNvlinkMbpsMax} * 1'000'000);
    RC_ASSERT(link.state.value_or(mailbox::NvlinkState::kOff) <= mailbox::NvlinkState::kDisabled);
    for (const auto& rate : {link.data_tx_rate, link.data_rx_rate, link.raw_tx_rate, link.raw_rx_rate}) {
      RC_ASSERT(IsWithin(rate, kBytesPerSecondMax));
    }
  }
  RC_ASSERT(reading.pcie.generation.value_or(1) >= 1 && reading.pcie.generation.value_or(1) <= 5);
  RC_ASSERT(reading.pcie.lanes.value_or(1) >= 1 && reading.pcie.lanes.value_or(1) <= 32);
  RC_ASSERT(reading.flags.fabric_manager.value_or(0) <= 3);
}

void CheckMetrics(const BoardReading& reading) {
  RC_ASSERT(reading.partitions.scopes.size() <= PartitionReading::kScopesMax);
  for (const auto& [scope, values] : reading.metrics.scopes) {
    RC_ASSERT(scope.partition.value_or(0) <= mailbox::kPartitionMask);
    RC_ASSERT(AllWithin(values.ratios, 0, 1));
    RC_ASSERT(AllWithin(values.bytes_per_second, 0, kBytesPerSecondMax));
  }
}

void CheckTexts(const BoardReading& reading) {
  for (const auto& [item, text] : reading.identity.items) RC_ASSERT(IsPrintable(text));
  RC_ASSERT(IsPrintable(reading.identity.driver_version.value_or("none")));
  RC_ASSERT(reading.driver_messages.messages.size() <= DriverMessageReading::kMessagesMax);
  RC_ASSERT(reading.driver_messages.counts.size() <= DriverMessageReading::kXidsMax);
}

void CheckAll(const BoardReading& reading) {
  CheckPhysics(reading);
  CheckMemory(reading);
  CheckLinks(reading);
  CheckMetrics(reading);
  CheckTexts(reading);
}

RC_GTEST_PROP(BoardRoundPropertyTest, RoundsAreBoundedAndValuesInRange, ()) {
  RandomReplies replies(*rc::gen::arbitrary<uint32_t>());
  FakeBoard board;
  board.lie = [&](const FakeBoard::Ran& ran) { return std::optional(replies.ReplyTo(ran)); };
  RoundRunner runner(board);
  for (int pass = 0; pass < 2; ++pass) {
    board.capabilities = replies.Capabilities();
    for (const GroupRow& row : kBoardGroups) {
      if (row.plan == nullptr) continue;
      board.log.clear();
      runner.Read(row.group);
      RC_ASSERT(board.log.size() <= row.commands_max);
      CheckAll(runner.reading);
    }
    RC_ASSERT(runner.memory.refused.size() <= BoardMemory::kRefusedMax);
  }
}

RC_GTEST_PROP(BoardReaderPropertyTest, AnyBoardAndAnyBus, ()) {
  RandomReplies replies(*rc::gen::arbitrary<uint32_t>());
  FakeBoard board;
  board.lie = [&](const FakeBoard::Ran& ran) { return std::optional(replies.ReplyTo(ran)); };
  BoardReader reader(board, {.schedule = {.bus_hz = 1'000'000}}, nullptr);
  BoardTime now = {absl::Seconds(1), absl::FromUnixSeconds(1)};
  for (int i = 0; i < 3000; ++i) {
    board.bus = i % 100 == 99 ? absl::UnavailableError("NACK") : absl::OkStatus();
    const size_t before = board.log.size();
    const auto step = reader.Step(now);
    RC_ASSERT(board.log.size() <= before + 1);
    if (step.ok() && *step == BoardStep::kPublished) CheckAll(*reader.reading());
    const absl::Duration next = std::max(reader.NextTime(now.steady), now.steady + absl::Microseconds(300));
    now = {next, now.wall + absl::Milliseconds(1)};
  }
}

}  // namespace
}  // namespace sideband::daemon
