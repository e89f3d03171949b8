// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "daemon/board/group_plans.h"
#include "daemon/board/group_round.h"
#include "proto/mailbox/board_items.h"

namespace sideband::daemon {
namespace {

using mailbox::Opcode;
using mailbox::TempSensor;

std::optional<double> Degrees(GroupRound& round, const std::string& what, const BoardReply& reply) {
  return round.Plausible(what, mailbox::DegreesOf(reply.data), kCelsiusMin, kCelsiusMax);
}

mailbox::CommandWord TempCommand(const GroupRound& round, TempSensor sensor) {
  const Opcode opcode = round.capabilities().HasFractions() ? Opcode::kGetExtTemp : Opcode::kGetTemp;
  return BoardCommand(opcode, static_cast<uint8_t>(sensor));
}

using mailbox::AsyncType;
using mailbox::Capability;
using mailbox::PowerSource;
using Dwords = std::vector<uint32_t>;

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

}  // namespace sideband::daemon
