// SPDX-License-Identifier: Apache-2.0
//
// For any capabilities and any replies, whatever their words: no crash, no round above its bound, and no value out of
// its range.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <random>

#include "absl/strings/ascii.h"
#include "daemon/board/board_reader.h"
#include "daemon/board/fake_board.h"
#include "daemon/board/group_round.h"

namespace sideband::daemon {
namespace {

using mailbox::AsyncStatus;
using mailbox::MailboxStatus;
using mailbox::Opcode;

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
