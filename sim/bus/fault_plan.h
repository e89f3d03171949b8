// SPDX-License-Identifier: Apache-2.0
//
// The transactions of a bus that fail, and how: a plan from a YAML file or from a test. Every fault is legal: wires,
// controllers and devices that conform to SMBus can cause it. Keys and an example are in README.md.
//   SIDEBAND_ASSIGN_OR_RETURN(const FaultPlan plan, FaultPlan::Load("faults.yaml"));
//   const FaultPlan one = {.seed = 7, .rules = {{.kind = FaultKind::kBitFlip, .probability = 0.01}}};
#ifndef SIDEBAND_SIM_BUS_FAULT_PLAN_H_
#define SIDEBAND_SIM_BUS_FAULT_PLAN_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/base/yaml.h"
#include "proto/mailbox/word.h"
#include "sim/bus/board_fault.h"

namespace sideband::sim {

// Reads a fault of the board from a rule of a plan.
// Reads the keys of the kind's row and ignores all others, which the caller rejects. Errors are those of YamlNode, one
// line "FILE:LINE: description".
absl::StatusOr<BoardFault> ReadBoardFault(const YamlMap& rule, BoardFaultKind kind);

enum class FaultKind : uint8_t {
  // On the wire: at most one of these affects a transaction.
  kAddressNack,      // no target acknowledges the address
  kDataNack,         // a written byte is not acknowledged; the target sees the bytes before it
  kArbitrationLost,  // another controller wins; the target sees a prefix, or nothing
  kBusBusy,      // another controller holds the bus before the first byte: arbitration is lost, the target sees nothing
  kStuckClock,   // the clock is held low for more than 35 ms; the target sees a prefix
  kBitFlip,      // bits change in any byte, written or read, data or address
  kBadPec,       // the last byte of the transaction changes
  kShortBlock,   // the device counts fewer bytes than it should, with a correct PEC
  kLongBlock,    // the device counts more bytes than it should, with a correct PEC
  kBusyForever,  // a status read returns busy, with a correct PEC
  kStatus,       // a status read returns another status, with a correct PEC
  kDie,          // the controller vanishes; the target sees a prefix, and there is no result
  // Beside the wire: each happens before a transaction, which then proceeds.
  kReset,          // the device restarts
  kSupersede,      // another controller sends a LATCH
  kChangeCatalog,  // a VM or a context is added or removed
  kDelay,          // time passes
  kBoard,          // something happens to the board: FaultRule::board
};
// kBoard is the last; fault_plan.cc has a name for each.
inline constexpr size_t kFaultKinds = static_cast<size_t>(FaultKind::kBoard) + 1;

// The words of the file: "address_nack" and so on. kBoard is "board", which is no word of the file: each BoardFaultKind
// has its own.
absl::string_view FaultName(FaultKind kind);
bool IsWireFault(FaultKind kind);

// A fault and its transactions. A rule fires at transactions from `from` to `to` (the first is 1) that match `only`,
// `command` and the kind of fault: at every `every`-th of those, with `probability`, at most `times` times.
struct FaultRule {
  enum class Only : uint8_t { kAll, kReads, kWrites };
  static constexpr uint64_t kNoEnd = std::numeric_limits<uint64_t>::max();

  FaultKind kind = FaultKind::kAddressNack;
  uint64_t from = 1;
  uint64_t to = kNoEnd;
  uint64_t every = 1;
  double probability = 1;
  uint64_t times = kNoEnd;
  Only only = Only::kAll;          // reads: transactions with a read message; writes: all others
  std::optional<uint8_t> command;  // the first written byte

  // The place in the transaction, in bytes from its start including address bytes: for kDataNack the refused byte, for
  // kBitFlip the changed byte, otherwise the number of bytes that the target sees. Drawn from the seed if absent.
  std::optional<uint32_t> byte;
  std::optional<uint8_t> bit;                                        // kBitFlip: 0 is the lowest; drawn if absent
  uint8_t bits = 1;                                                  // kBitFlip: the number of flipped bits
  std::optional<uint8_t> length;                                     // kShortBlock, kLongBlock: the count byte
  mailbox::MailboxStatus status = mailbox::MailboxStatus::kErrMisc;  // kStatus
  absl::Duration time = absl::ZeroDuration();                        // kDelay
  BoardFault board;                                                  // kBoard
};

struct FaultPlan {
  static constexpr size_t kRulesMax = 1024;
  // A CRC-8 detects any three flipped bits in a register's transaction, so no corrupted word can pass for a valid one.
  static constexpr uint8_t kBitsMax = 3;

  uint64_t seed = 1;
  std::vector<FaultRule> rules;  // if several wire faults fire, the first applies

  // Errors are one line "FILE:LINE: description".
  static absl::StatusOr<FaultPlan> Load(const std::string& path);
  // `path` is for messages only.
  static absl::StatusOr<FaultPlan> Parse(const std::string& text, const std::string& path);
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_BUS_FAULT_PLAN_H_
