// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/rtl/cosimulation.h"

#include <algorithm>
#include <bit>

#include "secure_mcu/pipeline/hpc_interconnect.h"

namespace sideband::rtl {
namespace {

using mcu::HpcHalf;
using mcu::HpcRegister;

constexpr size_t kLanes = kClients * hpc::kTags;

// Writes `value` to element `index` of a packed vector of elements of two bits.
void SetPair(uint8_t& vector, size_t index, uint32_t value) {
  vector = static_cast<uint8_t>((vector & ~(3u << 2 * index)) | value << 2 * index);
}

// The same as hpc_reach.sv, for slice 0.
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

RtlReadPath::RtlReadPath(uint32_t lookup_cycles) {
  top_->lookup_cycles = lookup_cycles;
  top_->reset = 1;
  Clock();
  top_->reset = 0;
}

void RtlReadPath::Clock() {
  top_->clk = 0;
  top_->eval();
  top_->clk = 1;
  top_->eval();
}

void RtlReadPath::Drive(size_t client, const Access& access) {
  top_->access_valid |= 1u << client;
  if (access.write) top_->access_write |= 1u << client;
  SetPair(top_->access_register, client, static_cast<uint32_t>(access.which));
  SetPair(top_->access_half, client, static_cast<uint32_t>(access.half));
  SetPair(top_->access_privilege, client, static_cast<uint32_t>(access.privilege));
  top_->access_data[2 * client] = static_cast<uint32_t>(access.data);
  top_->access_data[2 * client + 1] = static_cast<uint32_t>(access.data >> 32);
}

std::array<uint64_t, kClients> RtlReadPath::Results() const {
  std::array<uint64_t, kClients> results{};
  for (size_t client = 0; client < kClients; ++client) {
    results[client] = top_->access_result[2 * client] | uint64_t{top_->access_result[2 * client + 1]} << 32;
  }
  return results;
}

std::array<uint64_t, kClients> RtlReadPath::Look(const Access& access) {
  top_->access_write = 0;
  for (size_t client = 0; client < kClients; ++client) Drive(client, access);
  top_->eval();
  return Results();
}

Observation RtlReadPath::Step(const Stimulus& stimulus) {
  top_->switch_strobe = top_->switch_useren = 0;
  const auto hpcc = Look({.which = mcu::HpcRegister::kHpcc}), hpcm = Look({.which = mcu::HpcRegister::kHpcm}),
             hpcr_high = Look({.which = mcu::HpcRegister::kHpcr, .half = mcu::HpcHalf::kHigh});

  top_->access_valid = top_->access_write = 0;
  top_->events = stimulus.events;
  for (size_t client = 0; client < kClients; ++client) {
    if (stimulus.accesses[client]) Drive(client, *stimulus.accesses[client]);
    if (!stimulus.switches[client]) continue;
    top_->switch_strobe |= 1u << client;
    if (*stimulus.switches[client]) top_->switch_useren |= 1u << client;
  }
  top_->eval();

  Observation seen;
  const auto results = Results();
  for (size_t client = 0; client < kClients; ++client) {
    const auto& access = stimulus.accesses[client];
    seen.clients[client] = {.hpcc = hpcc[client],
                            .hpcm = hpcm[client],
                            .hpcr_high = hpcr_high[client],
                            .result = access && !access->write ? results[client] : 0,
                            .fault = (top_->access_fault >> client & 1) != 0};
  }
  for (size_t manager = 0; manager < kManagers; ++manager) {
    const uint32_t lanes = top_->grant_lane >> manager * kLanes & ((1u << kLanes) - 1);
    if (lanes != 0) seen.granted[manager] = std::countr_zero(lanes) / hpc::kTags;
  }
  Clock();
  return seen;
}

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
