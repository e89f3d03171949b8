// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/rtl/model_read_path.h"

#include <algorithm>
#include <bit>

#include "secure_mcu/pipeline/hpc_interconnect.h"

namespace sideband::rtl {
namespace {

using mcu::HpcHalf;
using mcu::HpcRegister;

// As hpc_reach.sv, for slice 0.
uint64_t Reach(mcu::HpcManagerId manager, mcu::HpcPrivilege privilege) {
  const auto found = std::find(kManagerIds.begin(), kManagerIds.end(), manager);
  if (found == kManagerIds.end()) return 0;
  const bool vm = manager.module == hpc::kModuleVm && privilege != mcu::HpcPrivilege::kUser;
  const bool allowed = manager.module == hpc::kModuleContext || vm || privilege == mcu::HpcPrivilege::kFirmware;
  return allowed ? BitmapOf(kCounters[found - kManagerIds.begin()]) : 0;
}

constexpr uint32_t kResetHigh = 0x9E3779B9;  // as in cosimulation_top.sv

size_t IndexOf(mcu::HpcManagerId manager) {
  return std::find(kManagerIds.begin(), kManagerIds.end(), manager) - kManagerIds.begin();
}

}  // namespace

ModelReadPath::ModelReadPath(uint32_t lookup_cycles)
    : timing_{.lookup_cycles = lookup_cycles}, interconnect_(timing_, kClients) {
  for (size_t client = 0; client < kClients; ++client) clients_.emplace_back(Reach);
  for (uint32_t manager = 0; manager < kManagers; ++manager) {
    for (uint32_t bit = 0; bit < counts_[manager].size(); ++bit) {
      counts_[manager][bit] = uint64_t{(kResetHigh + manager) * (bit + 1)} << 32;
    }
  }
}

ClientView ModelReadPath::Act(size_t client, const std::optional<Access>& access) {
  mcu::HpcClient& registers = clients_[client];
  ClientView view{.hpcc = registers.Read(HpcRegister::kHpcc, cycle_),
                  .hpcm = registers.Read(HpcRegister::kHpcm, cycle_),
                  .hpcr_high = registers.Read(HpcRegister::kHpcr, cycle_, HpcHalf::kHigh)};
  if (!access) return view;
  if (access->write) {
    view.fault = !registers.Write(access->which, access->data, access->privilege, cycle_, access->half);
  } else {
    view.result = registers.Read(access->which, cycle_, access->half);
  }
  return view;
}

void ModelReadPath::Send(size_t client) {
  const auto departure = clients_[client].TakeDeparture();
  if (!departure) return;
  interconnect_.Send(client, departure->request, departure->cycle);
  sent_.push_back({.client = client, .manager = IndexOf(departure->request.manager)});
}

void ModelReadPath::Grant(Observation& seen) {
  while (interconnect_.NextGrant() <= cycle_) {
    const mcu::HpcGrant grant = interconnect_.Grant();
    const size_t manager = IndexOf(grant.request.manager);
    const auto latch = [&](std::span<const uint16_t> events, std::span<uint64_t> counts) {
      for (size_t i = 0; i < events.size(); ++i) counts[i] = counts_[manager][events[i] % hpc::kCountersPerManager];
    };
    clients_[grant.client].Deliver(AnswerOf(grant.request, grant.cycle, timing_, latch));
    seen.granted[manager] = grant.client;
  }
}

void ModelReadPath::Count(uint64_t events) {
  for (size_t manager = 0; manager < kManagers; ++manager) {
    const uint64_t rotated = std::rotr(events, static_cast<int>(manager));
    for (size_t bit = 0; bit < counts_[manager].size(); ++bit) counts_[manager][bit] += rotated >> bit & 1;
  }
}

Observation ModelReadPath::Step(const Stimulus& stimulus) {
  Observation seen;
  sent_.clear();
  for (size_t client = 0; client < kClients; ++client) {
    seen.clients[client] = Act(client, stimulus.accesses[client]);
    Send(client);
    // The arrivals of this cycle; the tag that one of them frees may let a request leave.
    clients_[client].AdvanceTo(cycle_ + 1);
    Send(client);
  }
  Grant(seen);
  for (size_t client = 0; client < kClients; ++client) {
    if (!stimulus.switches[client]) continue;
    clients_[client].Switch(*stimulus.switches[client]);
    interconnect_.Withdraw(client, cycle_ + 1);
  }
  Count(stimulus.events);
  ++cycle_;
  return seen;
}

}  // namespace sideband::rtl
