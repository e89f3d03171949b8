// SPDX-License-Identifier: Apache-2.0
//
// Which transactions of a bus go wrong, and how: a plan, from a YAML file or made by a test. Every fault here is legal:
// wires, controllers and devices that keep to SMBus can bring it about. Keys and an example are in README.md.
//   SIDEBAND_ASSIGN_OR_RETURN(const FaultPlan plan, FaultPlan::Load("faults.yaml"));
//   const FaultPlan one = {.seed = 7, .rules = {{.kind = FaultKind::kBitFlip, .probability = 0.01}}};
#ifndef SIDEBAND_SIM_BUS_FAULTS_FAULT_PLAN_H_
#define SIDEBAND_SIM_BUS_FAULTS_FAULT_PLAN_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/mailbox/word.h"

namespace sideband::sim {

enum class FaultKind : uint8_t {
  // On the wire: one of these at most befalls a transaction.
  kAddressNack,      // nobody answers at the address
  kDataNack,         // a written byte is refused; the target sees the bytes before it
  kArbitrationLost,  // another controller wins; the target sees a prefix, or nothing
  kBusBusy,      // another controller has the bus before the first byte: arbitration is lost, the target sees nothing
  kStuckClock,   // the clock is held low for longer than 35 ms; the target sees a prefix
  kBitFlip,      // bits change, in any byte, written or read, of data or address
  kBadPec,       // the last byte of the transaction changes
  kShortBlock,   // the device counts fewer bytes than it should, with a right PEC
  kLongBlock,    // the device counts more, with a right PEC
  kBusyForever,  // a status read says busy, with a right PEC
  kStatus,       // a status read says another status, with a right PEC
  kDie,          // the controller vanishes; the target sees a prefix, nobody gets a result
  // Beside the wire: they happen before a transaction, which then goes on.
  kReset,          // the device restarts
  kSupersede,      // another controller latches
  kChangeCatalog,  // a VM or context comes or goes
  kDelay,          // time passes
};
inline constexpr size_t kFaultKinds = 16;

// "address_nack", … as in the file.
absl::string_view FaultName(FaultKind kind);
bool IsWireFault(FaultKind kind);

// What goes wrong where. A rule fires at transactions from `from` to `to` (the first is 1) that fit `only`, `command`
// and the kind of fault itself; of those at every `every`-th, with `probability`, `times` times at most.
struct FaultRule {
  enum class Only : uint8_t { kAll, kReads, kWrites };
  static constexpr uint64_t kNoEnd = std::numeric_limits<uint64_t>::max();

  FaultKind kind = FaultKind::kAddressNack;
  uint64_t from = 1;
  uint64_t to = kNoEnd;
  uint64_t every = 1;
  double probability = 1;
  uint64_t times = kNoEnd;
  Only only = Only::kAll;          // transactions that read something, or nothing
  std::optional<uint8_t> command;  // the first byte that is written

  // Where in the transaction, in bytes from its start, address bytes included: of kDataNack the byte that is refused,
  // of kBitFlip the one that changes, of the others how many the target sees. Drawn from the seed where it is absent.
  std::optional<uint32_t> byte;
  std::optional<uint8_t> bit;                                        // kBitFlip: 0 is the lowest; drawn likewise
  uint8_t bits = 1;                                                  // kBitFlip: how many
  std::optional<uint8_t> length;                                     // kShortBlock, kLongBlock: the count byte
  mailbox::MailboxStatus status = mailbox::MailboxStatus::kErrMisc;  // kStatus
  absl::Duration time = absl::ZeroDuration();                        // kDelay
};

struct FaultPlan {
  static constexpr size_t kRulesMax = 1024;
  // A CRC-8 finds any three in a register's transaction, so that no wrong word can pass for a right one.
  static constexpr uint8_t kBitsMax = 3;

  uint64_t seed = 1;
  std::vector<FaultRule> rules;  // of several that fire for the wire, the first counts

  // Errors are one line "FILE:LINE: what is wrong".
  static absl::StatusOr<FaultPlan> Load(const std::string& path);
  // `path` is for messages only.
  static absl::StatusOr<FaultPlan> Parse(const std::string& text, const std::string& path);
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_BUS_FAULTS_FAULT_PLAN_H_
