// SPDX-License-Identifier: Apache-2.0
//
// Of Chip: what its triggers mean to the clock domains.
#include <algorithm>

#include "secure_mcu/chip/chip.h"

namespace sideband::mcu {

void Chip::StartClocks() {
  if (config_.domains.empty()) return;
  network_.emplace(config_);
  horizons_.resize(network_->domains().size());
  ccu_rows_.resize(ccus_.size());
  for (const Unit& unit : units_) ccu_rows_[unit.ccu] = network_->FindRow(unit.channel, unit.domain);
}

// Of the row's units the one whose counts are the oldest decides. Units that do not count leave nothing out.
void Chip::FindHorizons() {
  std::ranges::fill(horizons_, ClockNetwork::Horizon());
  for (const Unit& unit : units_) {
    const std::optional<size_t> row = ccu_rows_[unit.ccu];
    if (!row || !unit.ulc.enabled()) continue;
    horizons_[*row].cycles = std::min(horizons_[*row].cycles, unit.ulc.delivered());
    // The records of this trigger will have what arrives until then.
    horizons_[*row].late |= ccus_[unit.ccu].RecordsUntilHeldTrigger() > 0;
  }
}

void Chip::SendTrigger(uint32_t count, std::optional<TriggerCause> cause) {
  if (!network_) return;
  if (cause) FindHorizons();
  network_->Send(
      {.number = triggers_.last_id(), .count = count, .cause = cause, .cycle = now_, .time_ns = ReferenceTimeNs()},
      horizons_);
}

sim::Instant Chip::StepClock(uint32_t domain, uint64_t hz) {
  clocks_.Forget();
  return network_->StepClock(domain, now_, hz);
}

void Chip::AddReturn(const Record& record) {
  const std::optional<size_t> row = ccu_rows_[record.ccu];
  if (!row) return;
  ReturnPacket packet{.number = record.trigger_id, .unit = record.ccu};
  for (uint16_t i = 0; i < record.size; ++i) {
    const EventShare& share = (*meanings_)[record.select][record.ccu][record.first + i];
    packet.counts.push_back({share.event, uint64_t{record.counts[i]} << share.shift});
  }
  network_->AddCounts(*row, packet);
}

}  // namespace sideband::mcu
