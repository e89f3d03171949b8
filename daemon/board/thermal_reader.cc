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

}  // namespace sideband::daemon
