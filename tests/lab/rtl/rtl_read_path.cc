// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/rtl/rtl_read_path.h"

#include <bit>

namespace sideband::rtl {
namespace {

constexpr size_t kLanes = kClients * hpc::kTags;

// Writes `value` to element `index` of a packed vector of elements of two bits.
void SetPair(uint8_t& vector, size_t index, uint32_t value) {
  vector = static_cast<uint8_t>((vector & ~(3u << 2 * index)) | value << 2 * index);
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

}  // namespace sideband::rtl
