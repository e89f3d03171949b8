// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/hpc_read_path.h"

#include <algorithm>
#include <utility>

#include "secure_mcu/pipeline/hpc_interconnect.h"

namespace sideband::mcu {

HpcReadPath::HpcReadPath(const Config& config, Latch latch)
    : config_(config),
      latch_(std::move(latch)),
      residents_(config.slices),
      departures_(config.slices + 1, kNoCycle),
      interconnect_(config.timing, config.slices + 1) {
  for (size_t client = 0; client <= config.slices; ++client) {
    clients_.emplace_back(
        [this, client](HpcManagerId manager, HpcPrivilege privilege) { return Readable(client, manager, privilege); });
  }
}

// --- Rights ---------------------------------------------------------------------------------------------------------

uint64_t HpcReadPath::EventsOf(HpcManagerId manager) const {
  const uint32_t first = hpc::kCountersPerManager * manager.extend;
  if (first >= config_.events) return 0;
  const uint32_t count = config_.events - first;
  return count >= hpc::kCountersPerManager ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}

uint64_t HpcReadPath::OfResidents(HpcManagerId manager) const {
  return config_.of_residents.empty() ? ~uint64_t{0} : config_.of_residents[manager.extend];
}

uint64_t HpcReadPath::Readable(size_t client, HpcManagerId manager, HpcPrivilege privilege) const {
  if (client == firmware()) return EventsOf(manager);
  const HpcResident& resident = residents_[client];
  const bool own = resident.context && manager.module == hpc::kModuleContext + client;
  const bool vm = resident.vm && privilege != HpcPrivilege::kUser && manager.module == hpc::kModuleVm + client;
  return own || vm ? EventsOf(manager) & OfResidents(manager) : 0;
}

// --- Accesses -------------------------------------------------------------------------------------------------------

uint64_t HpcReadPath::Read(size_t client, HpcRegister which, uint64_t cycle, HpcHalf half) {
  const uint64_t value = clients_[client].Read(which, cycle, half);
  Settle(client);
  return value;
}

bool HpcReadPath::Write(size_t client, HpcRegister which, uint64_t value, HpcPrivilege privilege, uint64_t cycle,
                        HpcHalf half) {
  const bool allowed = clients_[client].Write(which, value, privilege, cycle, half);
  Settle(client);
  return allowed;
}

void HpcReadPath::Switch(uint8_t slice, const HpcResident& resident, uint64_t cycle) {
  residents_[slice] = resident;
  clients_[slice].Switch(resident.useren);
  departures_[slice] = kNoCycle;
  interconnect_.Withdraw(slice, cycle + 1);  // the cycle of the switch itself grants nothing
  FindNextStop();
}

// --- Requests -------------------------------------------------------------------------------------------------------

// Most accesses change nothing for others.
void HpcReadPath::Settle(size_t client) {
  const auto departure = clients_[client].TakeDeparture();
  if (departure) interconnect_.Send(client, departure->request, departure->cycle);
  const uint64_t next = clients_[client].NextDeparture();
  if (std::exchange(departures_[client], next) != next || departure) FindNextStop();
}

void HpcReadPath::MakeGrant() {
  const HpcGrant grant = interconnect_.Grant();
  const auto latch = [&](std::span<const uint16_t> events, std::span<uint64_t> counts) {
    latch_(grant.client, grant.request.manager, events, counts);
  };
  clients_[grant.client].Deliver(AnswerOf(grant.request, grant.cycle, config_.timing, latch));
  departures_[grant.client] = clients_[grant.client].NextDeparture();
}

void HpcReadPath::RunTo(uint64_t cycle) {
  for (size_t client = 0; client < clients_.size(); ++client) {
    if (departures_[client] >= cycle) continue;
    clients_[client].AdvanceTo(cycle);
    Settle(client);
  }
  while (interconnect_.NextGrant() <= cycle) MakeGrant();
  FindNextStop();
}

void HpcReadPath::FindNextStop() {
  next_stop_ = interconnect_.NextGrant();
  for (const uint64_t departure : departures_) {
    // What arrives in the cycle of a departure has acted when that cycle has passed.
    if (departure != kNoCycle) next_stop_ = std::min(next_stop_, departure + 1);
  }
}

}  // namespace sideband::mcu
