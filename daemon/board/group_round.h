// SPDX-License-Identifier: Apache-2.0
//
// One reading of a group: the commands that are still to be run, what takes their replies, and the reading that they
// fill. The caller decides when the next command is run, and may stop in between.
//   GroupRound round(BoardGroup::kPower, now, memory, draft, report);
//   RowOf(round.group()).plan(round);
//   while (const PlannedCommand* next = round.Next()) round.Take(*port.Run(next->word, next->data, next->outputs));
// A reader of a group adds commands, each with what takes its reply:
//   round.Add({.word = BoardCommand(Opcode::kGetPower, 0),
//              .outputs = {.data = true},
//              .take = [](const BoardReply& reply) { Show(reply.data); }});
#ifndef SIDEBAND_DAEMON_BOARD_GROUP_ROUND_H_
#define SIDEBAND_DAEMON_BOARD_GROUP_ROUND_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/board/board_groups.h"
#include "daemon/board/board_reading.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/board_items.h"
#include "proto/mailbox/capability.h"
#include "proto/mailbox/services.h"
#include "proto/mailbox/word.h"

namespace sideband::daemon {

// The registers to be read after a command that has succeeded, or was accepted. The command register always is. Each
// costs bus time, so a caller names the ones that it needs.
struct Outputs {
  bool data = false;           // 5D
  bool extended_data = false;  // 5E
  bool operator==(const Outputs&) const = default;
};

// The reply to a command. A register that was not asked for, or of a command that has failed, is 0.
struct BoardReply {
  mailbox::CommandWord word;  // with the board's status; `copy_data` is EVENT_PENDING (HasPendingEvent)
  uint32_t data = 0;
  uint32_t extended_data = 0;
  bool operator==(const BoardReply&) const = default;
};

// Bit 30 of a reply's word: at least one event is pending that the board does not mask.
constexpr bool HasPendingEvent(const BoardReply& reply) { return reply.word.copy_data; }

// Runs single commands of SMBPBI's mailbox, from their inputs to their outputs.
class BoardPort {
 public:
  virtual ~BoardPort() = default;
  // Runs one command, and waits until it has ended. `data` is written before it. A status of the board is part of the
  // reply, whatever it is; an error is one of the bus, of a board that does not end the command, or of another
  // controller's command in its place.
  // Two commands return results in place of the echo of their opcode and arg1: GET_ROW_REMAP's histogram, and
  // GPU_PERFORMANCE_MONITORING (opcode 2:0).
  virtual absl::StatusOr<BoardReply> Run(const mailbox::CommandWord& word, std::optional<uint32_t> data,
                                         const Outputs& outputs) = 0;
};

// The traits of a port's transactions.
struct PortTraits {
  bool has_pec = true;
  bool is_shared = false;  // outputs are followed by another status
};

// The bus time of one command, in bit times: data-in if there is any, the command, one status, and the outputs
// (smbpbi-facts.md, 6.1 and 6.2), with another status where others use the registers, too. Further polls of a slow
// board are not included.
uint64_t CommandBits(bool has_data_in, const Outputs& outputs, const PortTraits& port);

// The ranges that a board can report; any other value is taken for a fault, and is absent.
inline constexpr double kCelsiusMin = -60, kCelsiusMax = 250;
inline constexpr double kWattsMax = 10'000;
inline constexpr double kMhzMax = 100'000;
inline constexpr uint32_t kMemoryMibMax = 1 << 24;             // 16 TiB
inline constexpr uint32_t kNvlinkMbpsMax = 1'000'000;          // 1 Tbit/s
inline constexpr uint64_t kNvlinkGainMax = uint64_t{1} << 50;  // bytes between two readings: of 1 Tbit/s in two hours
inline constexpr double kBytesPerSecondMax = 1e14;             // of a link, or of all
// Roundings make a little more than 100 of a percentage that is full.
inline constexpr double kPercentMax = 100, kPercentExcess = 101;  // the latter not included

constexpr double WattsOf(uint32_t milliwatts) { return milliwatts / 1e3; }

// Called once per change: a value has become implausible, or is plausible again; a command fails in an unexpected way.
// And for each message of the driver. `what` is printable.
using BoardReport = std::function<void(absl::string_view group, absl::string_view what)>;

struct PlannedCommand {
  mailbox::CommandWord word;
  std::optional<uint32_t> data;
  Outputs outputs;
  // Called with a reply of SUCCESS, and with `takes_accepted` of ACCEPTED.
  std::function<void(const BoardReply&)> take;
  bool takes_accepted = false;
  // Called with a reply of any other status; without it, the value is absent.
  std::function<void(const BoardReply&)> refuse;
  // The subject of the command may have ended: ERR_ARG2 and ERR_DATA say so, and are no failure.
  bool may_vanish = false;
  // Since the end of the command before: gives the board time to finish.
  absl::Duration pause;
};

uint64_t BitsOf(const PlannedCommand& command, const PortTraits& port);

mailbox::CommandWord BoardCommand(mailbox::Opcode opcode, uint8_t arg1 = 0, uint8_t arg2 = 0);

// The state that outlives the rounds of a board.
struct BoardMemory {
  BoardCapabilities capabilities;
  CountBook counts;
  // Commands without a `refuse` that the board does not have, until its capabilities are read again. At most
  // kRefusedMax.
  static constexpr size_t kRefusedMax = 4096;
  std::set<std::pair<uint32_t, uint32_t>> refused;  // command word, data-in
  std::set<std::string> implausible_now;            // that were reported
  std::map<std::string, std::string> failing;       // commands, with the status that was reported
  bool saw_reset = false;                           // the board was reset, or is another one
  std::optional<std::string> identity;              // by which another board is recognised
  // Totals and lists of which a reading has copies.
  EventReading events;
  uint32_t pending_events = 0;  // that have been counted already
  DriverMessageReading driver_messages;
};

// Not thread-safe. `memory` and `draft` must outlive it.
class GroupRound {
 public:
  // The group's values in `draft` are cleared.
  GroupRound(BoardGroup group, const BoardTime& now, BoardMemory& memory, BoardReading& draft,
             const BoardReport& report);
  // Takes of planned commands refer to it.
  GroupRound(const GroupRound&) = delete;
  GroupRound& operator=(const GroupRound&) = delete;

  // Adds a command after all others, or, while a reply is taken, before them, in the order of the calls. A command that
  // the board has refused is left out: false.
  bool Add(PlannedCommand command);

  // The next command to be run; nullptr if the round is over: all have been run, or the group's most.
  const PlannedCommand* Next() const;
  // The bus time of what is planned so far. Replies may lead to further commands.
  uint64_t PlannedBits(const PortTraits& port) const;
  // Takes the reply to Next().
  void Take(const BoardReply& reply);

  // `value` if it is within [least, most]; else nullopt, which Check reports.
  std::optional<double> Plausible(absl::string_view what, double value, double least, double most);
  // Reports that `what` is implausible if `is_plausible` is false, and that it no longer is.
  bool Check(absl::string_view what, bool is_plausible);
  // A count of this group, unwrapped.
  RunningCount Count(uint16_t item, uint16_t unit, uint64_t raw, int bits);
  // Whether the board has refused a command; remembers that it has.
  bool IsRefused(const mailbox::CommandWord& word, std::optional<uint32_t> data) const;
  void Refuse(const mailbox::CommandWord& word, std::optional<uint32_t> data);
  void Report(absl::string_view what);

  BoardGroup group() const { return group_; }
  const BoardTime& now() const { return now_; }
  const BoardCapabilities& capabilities() const { return memory_.capabilities; }
  bool Has(mailbox::Capability capability) const { return memory_.capabilities.Has(capability); }
  BoardMemory& memory() { return memory_; }
  BoardReading& draft() { return draft_; }
  uint32_t commands() const { return commands_; }  // taken so far

 private:
  void TakeSuccess(const PlannedCommand& command, const BoardReply& reply);
  void TakeFailure(const PlannedCommand& command, const BoardReply& reply);
  void ReportFailure(const PlannedCommand& command, mailbox::MailboxStatus status);

  const BoardGroup group_;
  const BoardTime now_;
  BoardMemory& memory_;
  BoardReading& draft_;
  const BoardReport& report_;
  std::deque<PlannedCommand> plan_;
  std::vector<PlannedCommand> following_;  // added while a reply is taken
  bool is_taking_ = false;
  uint32_t commands_ = 0;
};

// SCRATCH_READ of `count` dwords from `first` on. first + count is at most 256.
std::vector<mailbox::CommandWord> ScratchReads(uint8_t first, uint8_t count);

// Adds the commands of an item of several dwords, each of which is a command's data. `take` has as many dwords as there
// are words. It is not called if any is absent.
void AddDwords(GroupRound& round, const std::vector<mailbox::CommandWord>& words,
               std::function<void(const std::vector<uint32_t>&)> take);

// The bytes of dwords, the least significant one first.
Bytes BytesOf(const std::vector<uint32_t>& dwords);

// An asynchronous request that has not ended after these is absent. The pauses between them sum up to a second.
inline constexpr int kAsyncPollsMax = 16;

struct AsyncQuestion {
  mailbox::AsyncType type;
  std::optional<uint32_t> parameter;  // dword 0 before the request
  uint8_t dwords;                     // of the result, from dword 0 on
};

// Adds the commands of an asynchronous request: it is submitted, polled a bounded number of times, and its result read
// from scratch memory, from dword 0 on. `take` is called with the result of a request that has succeeded. A request
// that the board does not support is not made again until its capabilities are read again. Without scratch memory,
// nothing is added.
void AddAsync(GroupRound& round, const AsyncQuestion& question, std::function<void(const std::vector<uint32_t>&)> take);

// Command and reply words of GPU_PERFORMANCE_MONITORING (docs/design/smbpbi-facts.md, 3.4).

inline mailbox::CommandWord MetricCommand(mailbox::MonitoringAction action, mailbox::MetricId metric, uint8_t arg2) {
  const auto arg1 = static_cast<uint8_t>(static_cast<int>(action) << 6 | static_cast<int>(metric));
  return {.opcode = mailbox::Opcode::kPerformanceMonitoring, .arg1 = arg1, .arg2 = arg2, .execute = true};
}

// The value of a metric that is a bandwidth. The unit is 1024^granularity bytes, in the lowest bits of the reply's
// word, where the echoed opcode has zeros. nullopt: a granularity that is not defined.
inline std::optional<double> BytesPerSecondOf(const BoardReply& reply) {
  constexpr int kGranularityMax = 3;
  const int granularity = static_cast<int>(reply.word.opcode) & 7;
  if (granularity > kGranularityMax) return std::nullopt;
  return static_cast<double>(uint64_t{reply.data} << 10 * granularity);
}

// The value of a metric that is a percentage, in s24.8 as temperatures are: 0 to 1. nullopt: it is implausible.
inline std::optional<double> RatioOf(const BoardReply& reply) {
  const double percent = mailbox::DegreesOf(reply.data);
  if (percent < 0 || percent >= kPercentExcess) return std::nullopt;
  return std::min(percent, kPercentMax) / kPercentMax;
}

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_GROUP_ROUND_H_
