// SPDX-License-Identifier: Apache-2.0
//
// Plans the groups of sensors and clocks: temperatures, powers, energy, frequencies, and what slows the board down.
#include "absl/strings/str_cat.h"
#include "daemon/board/group_plans.h"
#include "daemon/board/group_round.h"
#include "proto/mailbox/board_items.h"

namespace sideband::daemon {
namespace {

using mailbox::AsyncType;
using mailbox::BoardClock;
using mailbox::Capability;
using mailbox::ClockItem;
using mailbox::Opcode;
using mailbox::PowerSource;
using mailbox::TempSensor;
using mailbox::Violation;
using Dwords = std::vector<uint32_t>;

std::optional<double> Degrees(GroupRound& round, const std::string& what, const BoardReply& reply) {
  return round.Plausible(what, mailbox::DegreesOf(reply.data), kCelsiusMin, kCelsiusMax);
}

mailbox::CommandWord TempCommand(const GroupRound& round, TempSensor sensor) {
  const Opcode opcode = round.capabilities().HasFractions() ? Opcode::kGetExtTemp : Opcode::kGetTemp;
  return BoardCommand(opcode, static_cast<uint8_t>(sensor));
}

void TakeEnergy(GroupRound& round, PowerSource source, uint32_t low, uint32_t high) {
  const uint64_t raw_mj = low | uint64_t{high} << 32;
  round.draft().energy.millijoules[source] = round.memory().counts.AddEnergy(
      {BoardGroup::kEnergy, static_cast<uint16_t>(source)}, raw_mj, kWattsMax, round.now().wall);
}

void AddEnergy(GroupRound& round, PowerSource source) {
  round.Add({.word = BoardCommand(Opcode::kGetEnergy, static_cast<uint8_t>(source)),
             .outputs = {.data = true, .extended_data = true},
             .take = [&round, source](const BoardReply& reply) {
               TakeEnergy(round, source, reply.data, reply.extended_data);
             }});
}

std::optional<double> Limit(GroupRound& round, PowerSource source, const char* kind, uint32_t milliwatts) {
  const char* const whose = source == PowerSource::kModule ? "module" : "total";
  return round.Plausible(absl::StrCat(kind, " power limit, ", whose), WattsOf(milliwatts), 0, kWattsMax);
}

void AddLimit(GroupRound& round, AsyncType type, PowerSource source) {
  AddAsync(round, {.type = type, .dwords = 3}, [&round, source](const Dwords& dwords) {
    // kNoLimit: nothing is in force.
    if (dwords[2] == mailbox::kNoLimit) return;
    if (const auto watts = Limit(round, source, "current", dwords[2])) {
      round.draft().power_limits.limits[source].current = watts;
    }
  });
}

void AddLimitInfo(GroupRound& round, AsyncType type, PowerSource source) {
  AddAsync(round, {.type = type, .dwords = 3}, [&round, source](const Dwords& dwords) {
    PowerLimits& limits = round.draft().power_limits.limits[source];
    limits.minimum = Limit(round, source, "minimum", dwords[0]);
    limits.maximum = Limit(round, source, "maximum", dwords[1]);
    limits.standard = Limit(round, source, "default", dwords[2]);
  });
}

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

void PlanTemperature(GroupRound& round) {
  for (const mailbox::TempRow& row : mailbox::kTempSensors) {
    if (row.word == nullptr || !round.Has(row.capability)) continue;
    round.Add({.word = TempCommand(round, row.sensor),
               .outputs = {.data = true},
               .take = [&round, row](const BoardReply& reply) {
                 const auto degrees = Degrees(round, absl::StrCat(row.name, " temperature"), reply);
                 if (degrees) round.draft().temperature.celsius[row.sensor] = *degrees;
               }});
  }
}

void PlanMargin(GroupRound& round) {
  round.Add(
      {.word = TempCommand(round, TempSensor::kTLimit),
       .outputs = {.data = true},
       .take = [&round](const BoardReply& reply) { round.draft().margin.celsius = Degrees(round, "T.Limit", reply); }});
}

void PlanThresholds(GroupRound& round) {
  for (const mailbox::ThermRow& row : mailbox::kThermParams) {
    if (!round.Has(row.capability)) continue;
    round.Add({.word = BoardCommand(Opcode::kGetThermParam, static_cast<uint8_t>(row.param)),
               .outputs = {.data = true},
               .take = [&round, row](const BoardReply& reply) {
                 const auto degrees = Degrees(round, absl::StrCat(row.name, " threshold"), reply);
                 if (degrees) round.draft().thresholds.celsius[row.param] = *degrees;
               }});
  }
}

void PlanPower(GroupRound& round) {
  for (const mailbox::PowerRow& row : mailbox::kPowerSources) {
    if (row.word == nullptr || !round.Has(*row.capability)) continue;
    round.Add({.word = BoardCommand(Opcode::kGetPower, static_cast<uint8_t>(row.source)),
               .outputs = {.data = true},
               .take = [&round, row](const BoardReply& reply) {
                 const auto watts =
                     round.Plausible(absl::StrCat(row.name, " power"), WattsOf(reply.data), 0, kWattsMax);
                 if (watts) round.draft().power.watts[row.source] = *watts;
               }});
  }
}

void PlanEnergy(GroupRound& round) {
  if (round.Has(Capability::kEnergyModule)) AddEnergy(round, PowerSource::kModule);
  if (round.Has(Capability::kEnergy)) return AddEnergy(round, PowerSource::kTotal);
  AddAsync(round, {.type = AsyncType::kEnergy, .dwords = 2},
           [&round](const Dwords& dwords) { TakeEnergy(round, PowerSource::kTotal, dwords[0], dwords[1]); });
}

void PlanPowerLimits(GroupRound& round) {
  if (round.Has(Capability::kPowerLimit)) {
    AddLimit(round, AsyncType::kGetPowerLimit, PowerSource::kTotal);
    AddLimitInfo(round, AsyncType::kPowerLimitInfo, PowerSource::kTotal);
  }
  if (round.Has(Capability::kGetModuleLimit)) AddLimit(round, AsyncType::kGetModuleLimit, PowerSource::kModule);
  if (round.Has(Capability::kModuleLimitInfo)) AddLimitInfo(round, AsyncType::kModuleLimitInfo, PowerSource::kModule);
}

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
