// SPDX-License-Identifier: Apache-2.0
#include "daemon/mailbox/block_peeker.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/base/pausing_clock.h"
#include "daemon/mailbox/fake_mailbox.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/mailbox/register_port.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/peek.h"
#include "proto/mailbox/word.h"

namespace sideband::daemon {
namespace {

using absl::StatusCode;
using mailbox::CommandWord;
using mailbox::kNoContext;
using mailbox::kPeekSameLatch;
using mailbox::MailboxStatus;
using mailbox::Opcode;

constexpr uint32_t Scope(uint16_t vm, uint16_t context) { return uint32_t{context} << 16 | vm; }
// The block of these tests, and another one.
constexpr uint32_t kBlock = Scope(kOpenVm, 0), kOther = Scope(kOpenVm, kNoContext);

CommandWord Command(uint8_t arg1) {
  return {.opcode = Opcode::kPeek, .arg1 = arg1, .arg2 = uint8_t(arg1 == 1 ? 255 : 0), .execute = true};
}
const CommandWord kScope = Command(0), kGo = Command(1);

class BlockPeekerTest : public testing::Test {
 protected:
  BlockPeekerTest() {
    device_.version = mailbox::ExtensionVersion::kTwo;
    device_.features = mailbox::kPeekFeature;
    // Three extends. Counter i of the block is 1000 + i.
    device_.next.counters_per_block = kEvents;
    device_.next.counters.assign(device_.next.blocks.size() * kEvents, 0);
    for (size_t i = 0; i < kEvents; ++i) device_.next.counters[2 * kEvents + i] = 1000 + i;
    EXPECT_TRUE(session_.CheckExtension().ok());
    device_.commands.clear();
  }

  static PeekQuery Query(std::vector<uint16_t> events = {1}) {
    return {.vm = kOpenVm, .context = 0, .boot_id = 9, .events = std::move(events)};
  }
  static std::vector<uint64_t> CountersOf(const absl::StatusOr<PeekedBlock>& block) {
    return block.ok() ? block->counters : std::vector<uint64_t>();
  }
  // Before the next `times` transactions of a kind, another controller runs these commands.
  void Interfere(int times, std::function<bool(const smbus::Transfer&)> is_meant,
                 std::vector<FakeMailbox::Command> commands) {
    device_.before = [this, times, is_meant = std::move(is_meant),
                      commands = std::move(commands)](const smbus::Transfer& transfer) mutable {
      if (times == 0 || !is_meant(transfer)) return;
      --times;
      for (const FakeMailbox::Command& command : commands) device_.RunElsewhere(command);
    };
  }
  // The write of GO, the only command whose second argument is not 0.
  static bool IsGo(const smbus::Transfer& transfer) {
    return IsWriteOf(transfer, mailbox::kOwnRegisters.command) && transfer.messages[0].write_bytes[4] == 255;
  }

  static constexpr size_t kEvents = 130;
  FakeClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  FakeMailbox device_;
  std::map<std::string, int> outcomes_;
  RegisterPort port_{device_, FakeMailbox::kAddress,
                     [this](absl::string_view outcome) { ++outcomes_[std::string(outcome)]; }};
  MailboxSession session_{port_, [](absl::Duration) {}};
  int retries_ = 0;
  BlockPeeker peeker_{session_, clock_, [this] { ++retries_; }};
};

TEST_F(BlockPeekerTest, OneCounterTakesTwoCommands) {
  device_.next.blocks[2].flags = mailbox::kFlagOverflow;
  const auto peeked = peeker_.Peek(Query());
  ASSERT_TRUE(peeked.ok()) << peeked.status();
  EXPECT_EQ(peeked->counters, (std::vector<uint64_t>{1001}));
  EXPECT_EQ(peeked->reference_time_ns, device_.next.reference_time_ns);
  EXPECT_EQ(peeked->flags, mailbox::kFlagOverflow);
  EXPECT_EQ(device_.commands.size(), 2u);
  EXPECT_EQ(device_.CommandsOf(Opcode::kLatch).size(), 0u);
  EXPECT_EQ(retries_, 0);
}

TEST_F(BlockPeekerTest, TheHostsTimeIsThatOfTheLatch) {
  device_.before = [&](const smbus::Transfer& transfer) {
    if (IsGo(transfer)) clock_.Advance(absl::Milliseconds(6));
    if (IsWindow(transfer)) clock_.Advance(absl::Seconds(1));
  };
  const absl::Time start = clock_.Now();
  const auto peeked = peeker_.Peek(Query());
  ASSERT_TRUE(peeked.ok()) << peeked.status();
  EXPECT_EQ(peeked->host_time_error, absl::Milliseconds(3));
  EXPECT_EQ(peeked->host_time, start + absl::Milliseconds(3));
}

TEST_F(BlockPeekerTest, TheLatchIsWithinTheErrorWhereverTheThreadPauses) {
  absl::Time latched;
  device_.before = [&](const smbus::Transfer& transfer) {
    if (!IsGo(transfer)) return;
    clock_.Advance(absl::Microseconds(100));
    latched = clock_.Now();
    clock_.Advance(absl::Microseconds(50));
  };
  int at = 0, readings = 0;
  do {
    const PausingClock clock(clock_, [&](int reading) { return absl::Milliseconds(reading == at ? 10 : 0); });
    const auto peeked = BlockPeeker(session_, clock, [] {}).Peek(Query());
    ASSERT_TRUE(peeked.ok()) << peeked.status();
    EXPECT_LE(absl::AbsDuration(peeked->host_time - latched), peeked->host_time_error) << "paused at " << at;
    readings = clock.readings();
  } while (++at < readings);
  EXPECT_GE(readings, 5);
}

TEST_F(BlockPeekerTest, EventsOfSeveralExtendsAreOfOneLatch) {
  // Each read of a window finds the device further on.
  device_.before = [&](const smbus::Transfer& transfer) {
    if (!IsWindow(transfer)) return;
    ++device_.next.reference_time_ns;
    for (uint64_t& counter : device_.next.counters) ++counter;
  };
  EXPECT_EQ(CountersOf(peeker_.Peek(Query({0, 63, 64, 129}))), (std::vector<uint64_t>{1000, 1063, 1064, 1129}));
  EXPECT_EQ(device_.commands.size(), 6u);
  EXPECT_EQ(retries_, 0);
}

TEST_F(BlockPeekerTest, NarrowWindowsNeedMoreQuestions) {
  std::vector<uint16_t> events(64);
  for (uint16_t i = 0; i < 64; ++i) events[i] = i;
  const auto wide = QuestionsOf(Query(events), 255), narrow = QuestionsOf(Query(events), 32);
  ASSERT_EQ(wide.size(), 1u);
  EXPECT_EQ(wide[0].bitmap, ~uint64_t{0});
  ASSERT_EQ(narrow.size(), 2u) << "16 windows of 32 bytes hold 55 counters";
  EXPECT_EQ(narrow[0].bitmap, (uint64_t{1} << 55) - 1);
  EXPECT_EQ(narrow[1].bitmap, ~uint64_t{0} << 55);
  EXPECT_EQ(narrow[1].manager, kPeekSameLatch);
  EXPECT_EQ(QuestionsOf(Query(), 5).size(), 1u);
  EXPECT_TRUE(QuestionsOf(Query(), 4).empty());
  device_.window_bytes = 32;
  EXPECT_EQ(CountersOf(peeker_.Peek(Query(events))).size(), 64u);
  device_.window_bytes = 4;
  EXPECT_EQ(peeker_.Peek(Query()).status().code(), StatusCode::kUnimplemented);
}

TEST_F(BlockPeekerTest, ItsTimeOnTheBusIsKnown) {
  EXPECT_EQ(PeekTime(Query(), 100'000, 255), absl::Microseconds(14'460));
  EXPECT_EQ(PeekTime(Query({0, 64}), 100'000, 255), absl::Microseconds(2 * 14'460));
  EXPECT_EQ(PeekLeadTime(Query(), 100'000, 255), absl::ZeroDuration());
  EXPECT_EQ(PeekLeadTime(Query({0, 64, 128}), 100'000, 255), absl::Microseconds(2 * 14'460));
}

// Wherever another controller's peek comes in, its answer is not taken for ours.
TEST_F(BlockPeekerTest, AnotherControllersAnswerIsRecognised) {
  const FakeMailbox::Command other_scope = {kScope, 0, kOther}, same_scope = {kScope, 0, kBlock};
  const FakeMailbox::Command other_go = {kGo, 1, 0}, same_go = {kGo, 2, 0};
  const struct {
    const char* what;
    bool (*is_meant)(const smbus::Transfer&);
    std::vector<FakeMailbox::Command> commands;
  } kRows[] = {
      {"another scope before GO", IsGo, {other_scope}},
      {"a whole peek before GO", IsGo, {other_scope, other_go}},
      {"another bitmap after GO", IsWindow, {same_scope, other_go}},
      {"another block after GO", IsWindow, {other_scope, same_go}},
      {"the same question, later", IsWindow, {same_scope, same_go}},
      {"a latch", IsWindow, {{{.opcode = Opcode::kLatch, .arg2 = 255, .execute = true}}}},
  };
  for (const auto& row : kRows) {
    retries_ = 0;
    Interfere(1, row.is_meant, row.commands);
    EXPECT_EQ(CountersOf(peeker_.Peek(Query())), (std::vector<uint64_t>{1001})) << row.what;
    EXPECT_EQ(retries_, 1) << row.what;
    Interfere(-1, row.is_meant, row.commands);
    EXPECT_FALSE(peeker_.Peek(Query()).ok()) << row.what;
    EXPECT_EQ(retries_, BlockPeeker::kAttemptsMax) << row.what << ": one of the first, two of the second";
  }
  EXPECT_GT(outcomes_["interference"], 0);
}

TEST_F(BlockPeekerTest, AnotherLatchBetweenExtendsIsRecognised) {
  // Before the second SCOPE is written, another controller peeks at the same block, later.
  int commands = 0;
  device_.before = [&](const smbus::Transfer& transfer) {
    if (!IsWriteOf(transfer, mailbox::kOwnRegisters.data) || ++commands != 3) return;
    ++device_.next.reference_time_ns;
    device_.RunElsewhere({kScope, 0, kBlock});
    device_.RunElsewhere({kGo, 1, 0});
  };
  EXPECT_EQ(CountersOf(peeker_.Peek(Query({0, 64}))), (std::vector<uint64_t>{1000, 1064}));
  EXPECT_EQ(retries_, 1);
}

TEST_F(BlockPeekerTest, ALatchThatIsDueWaitsForOneQuestion) {
  const absl::Duration due = clock_.Steady() + absl::Seconds(1);
  device_.before = [&](const smbus::Transfer& transfer) {
    if (IsWindow(transfer)) clock_.Advance(absl::Milliseconds(600));
  };
  EXPECT_EQ(peeker_.Peek(Query({0, 64, 128}), due).status(), GaveWay());
  EXPECT_EQ(device_.commands.size(), 4u) << "the second extend's answer is read to its end";
  EXPECT_EQ(CountersOf(peeker_.Peek(Query(), due)), (std::vector<uint64_t>{1001})) << "the first is always asked";
  EXPECT_EQ(CountersOf(peeker_.Peek(Query({0, 64}))), (std::vector<uint64_t>{1000, 1064}));
}

TEST_F(BlockPeekerTest, ALatchThatIsDueWaitsForOneAttempt) {
  device_.spoil = [](Bytes& stream) { stream.back() ^= 1; };
  EXPECT_EQ(peeker_.Peek(Query(), clock_.Steady()).status(), GaveWay());
  EXPECT_EQ(device_.commands.size(), 2u);
  EXPECT_EQ(retries_, 0);
}

TEST_F(BlockPeekerTest, ADamagedAnswerIsAskedForAgain) {
  int streams = 0;
  device_.spoil = [&](Bytes& stream) {
    if (++streams <= 2) stream.back() ^= 1;
  };
  EXPECT_EQ(CountersOf(peeker_.Peek(Query())), (std::vector<uint64_t>{1001}));
  EXPECT_EQ(retries_, 2);
  streams = 0;
  device_.spoil = [&](Bytes& stream) { stream.resize(stream.size() - 1); };
  EXPECT_EQ(peeker_.Peek(Query()).status().code(), StatusCode::kDataLoss);
}

TEST_F(BlockPeekerTest, AnotherBootOrGenerationIsNoAnswer) {
  device_.next.boot_id = 10;
  EXPECT_EQ(peeker_.Peek(Query()).status(), absl::AbortedError("PEEK: the device has restarted"));
  device_.next.boot_id = 9;
  device_.next.blocks[2].generation = 1;
  EXPECT_EQ(peeker_.Peek(Query()).status(), absl::AbortedError("PEEK: the counters have started from 0 again"));
  EXPECT_EQ(retries_, 0) << "asking again would not help";
}

TEST_F(BlockPeekerTest, ARestartBetweenExtendsIsNoAnswer) {
  device_.before = [&](const smbus::Transfer& transfer) {
    if (IsWindow(transfer)) device_.next.boot_id = 10;
  };
  device_.answer = [&](const FakeMailbox::Command& command) -> std::optional<FakeMailbox::Reply> {
    const bool is_lost = device_.next.boot_id == 10 && (command.data & kPeekSameLatch) != 0;
    return is_lost ? std::optional(FakeMailbox::Reply{MailboxStatus::kErrAgain}) : std::nullopt;
  };
  EXPECT_EQ(peeker_.Peek(Query({0, 64})).status().code(), StatusCode::kAborted);
}

TEST_F(BlockPeekerTest, ARefusalHasItsStatus) {
  PeekQuery absent = Query();
  absent.context = 7;
  EXPECT_EQ(peeker_.Peek(absent).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(retries_, 2) << "the refusal may have been that of another controller's scope";
  const struct {
    MailboxStatus status;
    StatusCode code;
  } kRows[] = {{MailboxStatus::kErrNotAvailable, StatusCode::kUnavailable},
               {MailboxStatus::kErrAgain, StatusCode::kAborted},
               {MailboxStatus::kErrOpcode, StatusCode::kUnimplemented},
               {MailboxStatus::kErrMisc, StatusCode::kInternal}};
  for (const auto& row : kRows) {
    device_.answer = [&](const FakeMailbox::Command&) { return FakeMailbox::Reply{row.status}; };
    EXPECT_EQ(peeker_.Peek(Query()).status().code(), row.code);
  }
}

TEST_F(BlockPeekerTest, ADeviceWithoutTheFeatureIsNotAsked) {
  device_.features = 0;
  ASSERT_TRUE(session_.CheckExtension().ok());
  device_.commands.clear();
  EXPECT_EQ(peeker_.Peek(Query()).status().code(), StatusCode::kUnimplemented);
  EXPECT_TRUE(device_.commands.empty());
}

}  // namespace
}  // namespace sideband::daemon
