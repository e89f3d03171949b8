// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "daemon/board/group_plans.h"
#include "daemon/board/group_round.h"
#include "proto/mailbox/board_items.h"

namespace sideband::daemon {
namespace {

using mailbox::BoardClock;
using mailbox::Capability;
using mailbox::ClockItem;
using mailbox::Opcode;
using mailbox::Violation;
using Dwords = std::vector<uint32_t>;

// Without sections of its own, the result has a u64 for each slot from this dword on.
constexpr size_t kFirstViolationDword = 2;

constexpr uint32_t KnownReasons() {
  uint32_t reasons = 0;
  for (const mailbox::ThrottleRow& row : mailbox::kThrottleReasons) reasons |= mailbox::MaskOf(row.reason);
  return reasons;
}

mailbox::CommandWord ClockCommand(ClockItem item, BoardClock clock = BoardClock::kGraphics) {
  return BoardCommand(Opcode::kGetClock, static_cast<uint8_t>(item), static_cast<uint8_t>(clock));
}

// Two clocks, each into its place in `values`, which is part of the draft.
void AddClocks(GroupRound& round, ClockItem item, std::map<BoardClock, double>& values) {
  for (const BoardClock clock : {BoardClock::kGraphics, BoardClock::kMemory}) {
    round.Add({.word = ClockCommand(item, clock),
               .outputs = {.data = true},
               .take = [&round, &values, item, clock](const BoardReply& reply) {
                 const auto what = absl::StrCat(clock == BoardClock::kGraphics ? "graphics" : "memory", " clock ",
                                                static_cast<int>(item));
                 if (const auto mhz = round.Plausible(what, reply.data, 0, kMhzMax)) values[clock] = *mhz;
               }});
  }
}

void AddReasons(GroupRound& round, ClockItem item, std::optional<uint32_t>& reasons) {
  round.Add({.word = ClockCommand(item), .outputs = {.data = true}, .take = [&reasons](const BoardReply& reply) {
               reasons = reply.data & KnownReasons();
             }});
}

Capability CapabilityOf(Violation violation) {
  switch (violation) {
    case Violation::kHardware:
      return Capability::kHwViolation;
    case Violation::kSoftware:
      return Capability::kSwViolation;
    case Violation::kSoftwarePower:
      return Capability::kSwPowerViolation;
    case Violation::kSoftwareThermal:
      return Capability::kSwThermalViolation;
  }
  return Capability::kHwViolation;
}

void TakeViolations(GroupRound& round, const Dwords& dwords) {
  for (uint16_t slot = 0; slot < mailbox::kViolationCount; ++slot) {
    const auto violation = static_cast<Violation>(slot);
    // The mask says which of the slots the board has filled.
    if (!round.Has(CapabilityOf(violation)) || (dwords[0] >> slot & 1) == 0) continue;
    const size_t low = kFirstViolationDword + 2 * slot;
    const uint64_t raw = dwords[low] | uint64_t{dwords[low + 1]} << 32;
    round.draft().violations.counts[violation] = round.Count(slot, 0, raw, 64);
  }
}

}  // namespace

void PlanClocks(GroupRound& round) {
  ClockReading& clocks = round.draft().clocks;
  if (round.Has(Capability::kClocks)) AddClocks(round, ClockItem::kCurrent, clocks.current_mhz);
  if (round.Has(Capability::kPState)) {
    round.Add({.word = ClockCommand(ClockItem::kPState),
               .outputs = {.data = true},
               .take = [&clocks](const BoardReply& reply) {
                 const auto state = static_cast<uint8_t>(reply.data & 0xF);
                 if (state != mailbox::kPStateInvalid) clocks.performance_state = state;
               }});
  }
  if (round.Has(Capability::kThrottleReason)) AddReasons(round, ClockItem::kCurrentReasons, clocks.throttle_active);
}

void PlanClockLimits(GroupRound& round) {
  ClockLimitReading& limits = round.draft().clock_limits;
  if (round.Has(Capability::kClocks)) {
    AddClocks(round, ClockItem::kMinimum, limits.minimum_mhz);
    AddClocks(round, ClockItem::kMaximum, limits.maximum_mhz);
  }
  if (round.Has(Capability::kThrottleReason)) {
    AddReasons(round, ClockItem::kSupportedReasons, limits.throttle_supported);
  }
}

void PlanViolations(GroupRound& round) {
  constexpr uint8_t kDwords = kFirstViolationDword + 2 * mailbox::kViolationCount;
  AddAsync(round, {.type = mailbox::AsyncType::kViolations, .parameter = mailbox::kAllViolations, .dwords = kDwords},
           [&round](const Dwords& dwords) { TakeViolations(round, dwords); });
}

}  // namespace sideband::daemon
