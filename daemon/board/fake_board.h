// SPDX-License-Identifier: Apache-2.0
//
// A board in memory, for tests. What is not set is ERR_NOT_SUPPORTED. Statuses, replies and the bus can be disturbed;
// all commands are logged.
//   FakeBoard board;
//   board.Announce(Capability::kPowerTotal);
//   board.Set(Opcode::kGetPower, 0, 0, 123'456);
//   board.errors[Opcode::kGetPower] = MailboxStatus::kErrSensorData;
#ifndef SIDEBAND_DAEMON_BOARD_FAKE_BOARD_H_
#define SIDEBAND_DAEMON_BOARD_FAKE_BOARD_H_

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/board/board_groups.h"
#include "daemon/board/board_reading.h"
#include "daemon/board/group_round.h"
#include "proto/mailbox/board_items.h"
#include "proto/mailbox/services.h"

namespace sideband::daemon {

// Not thread-safe.
class FakeBoard final : public BoardPort {
 public:
  struct Ran {
    mailbox::CommandWord word;
    std::optional<uint32_t> data;
    Outputs outputs;
  };
  struct Async {
    mailbox::AsyncStatus status = mailbox::AsyncStatus::kSuccess;
    std::vector<uint32_t> dwords;
    int unfinished_polls = 0;  // before the status
  };

  absl::StatusOr<BoardReply> Run(const mailbox::CommandWord& word, std::optional<uint32_t> data,
                                 const Outputs& outputs) override;

  void Announce(mailbox::Capability capability);
  void Withdraw(mailbox::Capability capability);
  void AnnounceScratch() { capabilities.dwords[2] |= 1 << 2; }
  // The reply to a command.
  void Set(mailbox::Opcode opcode, uint8_t arg1, uint8_t arg2, uint32_t data, uint32_t extended_data = 0);
  void SetItem(mailbox::SysId item, absl::string_view bytes);
  // Adds the driver's next message.
  void AddMessage(const mailbox::DriverEvent& message);
  size_t CountOf(mailbox::Opcode opcode) const;

  BoardCapabilities capabilities;
  std::array<uint32_t, 256> scratch = {};
  std::map<mailbox::AsyncType, Async> async;  // others are of status kNotSupported
  uint32_t pending_events = 0;
  bool shows_pending_events = false;  // in each reply's word, as EVENT_PENDING
  std::deque<Bytes> messages;
  std::map<MetricScope, std::map<mailbox::MetricId, uint32_t>> metrics;

  // Faults. In place of the board's own reply: a status by opcode, any reply, an error of the bus.
  std::map<mailbox::Opcode, mailbox::MailboxStatus> errors;
  std::function<std::optional<BoardReply>(const Ran&)> lie = [](const Ran&) { return std::nullopt; };
  absl::Status bus;

  std::vector<Ran> log;

 private:
  struct Answer {
    mailbox::MailboxStatus status = mailbox::MailboxStatus::kSuccess;
    uint32_t data = 0, extended_data = 0;
  };
  Answer Execute(const Ran& ran);
  Answer ExecuteAsync(uint8_t type, uint8_t dword);
  Answer Poll(uint8_t id);
  Answer AccessRegister(const Ran& ran);
  Answer TakeMessage(uint8_t dword);
  Answer Metric(const Ran& ran) const;

  std::map<std::tuple<mailbox::Opcode, uint8_t, uint8_t>, Answer> answers_;
  std::map<uint8_t, Async> running_;
  uint8_t next_id_ = 1;
};

// Not thread-safe. `board` must outlive it.
class RoundRunner {
 public:
  explicit RoundRunner(FakeBoard& board) : board_(board) {}

  // With the board's capabilities of now, a second after the last one.
  const BoardReading& Read(BoardGroup group) {
    now.steady += absl::Seconds(1);
    now.wall += absl::Seconds(1);
    memory.capabilities = board_.capabilities;
    GroupRound round(group, now, memory, reading, report_);
    RowOf(round.group()).plan(round);
    while (const PlannedCommand* next = round.Next()) {
      const auto reply = board_.Run(next->word, next->data, next->outputs);
      round.Take(*reply);
    }
    commands = round.commands();
    return reading;
  }

  BoardMemory memory;
  BoardReading reading;
  BoardTime now = {absl::Seconds(100), absl::FromUnixSeconds(1'000'000)};
  uint32_t commands = 0;             // of the last group
  std::vector<std::string> reports;  // "group: what"

 private:
  FakeBoard& board_;
  const BoardReport report_ = [this](absl::string_view group, absl::string_view what) {
    reports.push_back(absl::StrCat(group, ": ", what));
  };
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_FAKE_BOARD_H_
