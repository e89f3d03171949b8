// SPDX-License-Identifier: Apache-2.0
#include "sim/bus_faults/fault_trigger.h"

#include <algorithm>
#include <optional>

#include "proto/mailbox/registers.h"

namespace sideband::sim {
namespace {

using smbus::Message;
using smbus::Transfer;

bool Reads(const Transfer& transfer) {
  return std::any_of(transfer.messages.begin(), transfer.messages.end(), [](const Message& m) { return m.read; });
}

// The SMBus command code; absent if the transaction starts with a read.
std::optional<uint8_t> CommandCode(const Transfer& transfer) {
  if (transfer.messages.empty() || transfer.messages[0].read || transfer.messages[0].write_bytes.empty()) return {};
  return transfer.messages[0].write_bytes[0];
}

bool FitsKind(FaultKind kind, const Transfer& transfer) {
  switch (kind) {
    case FaultKind::kShortBlock:
    case FaultKind::kLongBlock:
      return Reads(transfer);
    case FaultKind::kBusyForever:
    case FaultKind::kStatus:
      return Reads(transfer) && (CommandCode(transfer) == mailbox::kSharedRegisters.command ||
                                 CommandCode(transfer) == mailbox::kOwnRegisters.command);
    default:
      return true;
  }
}

bool Fits(const FaultRule& rule, const Transfer& transfer) {
  if (rule.only == FaultRule::Only::kReads && !Reads(transfer)) return false;
  if (rule.only == FaultRule::Only::kWrites && Reads(transfer)) return false;
  if (rule.command && CommandCode(transfer) != rule.command) return false;
  return FitsKind(rule.kind, transfer);
}

}  // namespace

bool FaultTrigger::Fires(uint64_t transaction, const Transfer& transfer) {
  if (transaction < rule_.from || transaction > rule_.to || fired_ == rule_.times || !Fits(rule_, transfer)) {
    return false;
  }
  if (++fitting_ % rule_.every != 0) return false;
  // The upper 53 bits make a number in [0, 1).
  if (rule_.probability < 1 && static_cast<double>(random_() >> 11) * 0x1p-53 >= rule_.probability) return false;
  ++fired_;
  return true;
}

}  // namespace sideband::sim
