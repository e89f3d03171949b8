// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/live_counts.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "secure_mcu/pipeline/hpc_interconnect.h"

namespace sideband::mcu {
namespace {

// By manager: the events of which a slice's units have a counter.
std::vector<uint64_t> SliceEvents(const PipelineConfig& config) {
  std::vector<uint64_t> events(mailbox::kEventsMax / hpc::kCountersPerManager);
  for (const CcuSpec& ccu : config.ccus) {
    if (ccu.channel == kDeviceChannel) continue;
    for (const EventShare& share : AllocateCounters(ccu).meanings) {
      events[share.event / hpc::kCountersPerManager] |= uint64_t{1} << share.event % hpc::kCountersPerManager;
    }
  }
  return events;
}

}  // namespace

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

// --- HpcReadPath: rights ---------------------------------------------------------------------------------------------

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

// --- HpcReadPath: accesses -------------------------------------------------------------------------------------------

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

// --- HpcReadPath: requests -------------------------------------------------------------------------------------------

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
    // Arrivals in the cycle of a departure have acted when that cycle has passed.
    if (departure != kNoCycle) next_stop_ = std::min(next_stop_, departure + 1);
  }
}

// --- LiveCounts ------------------------------------------------------------------------------------------------------

LiveCounts::LiveCounts(const CountedParts& parts)
    : parts_(parts),
      hpc_({.slices = parts.config.slices,
            .events = parts.config.events,
            .timing = parts.config.hpc,
            .of_residents = SliceEvents(parts.config)},
           [this](size_t client, HpcManagerId manager, std::span<const uint16_t> events, std::span<uint64_t> counts) {
             Latch(client, manager, events, counts);
           }) {}

// All that the next commits of the reduction channel will add: of one slice, or for the hypervisor's channel of the
// whole device. Records of another selection will fault.
void LiveCounts::AddUncommitted(size_t index, std::span<uint64_t> sums) const {
  const ChipChannels& channels = parts_.channels;
  const std::vector<uint64_t>& reduced = channels.pending(index).counts;
  for (size_t event = 0; event < reduced.size(); ++event) AddSaturating(reduced[event], sums[event]);
  parts_.units.AddCounts(
      [&](uint8_t channel, uint8_t select) {
        return channels.Feeds(index, channel) && channels.IsSelected(channel, select);
      },
      sums);
}

// Adds what a flush would derive, too.
void LiveCounts::AddUncommittedAndDerived(size_t index, std::span<uint64_t> sums) const {
  AddUncommitted(index, sums);
  if (!parts_.rotation) return;
  for (uint8_t slice = 0; slice < parts_.config.slices; ++slice) {
    if (parts_.channels.Feeds(index, slice)) AddDerived(slice, sums);
  }
  if (index == parts_.channels.hypervisor()) AddDerived(kDeviceChannel, sums);
}

void LiveCounts::AddDerived(uint8_t channel, std::span<uint64_t> sums) const {
  if (!parts_.rotation->Turns(channel)) return;
  const size_t index = parts_.channels.IndexOf(channel);
  // The channel sees at its reduction which events lack counts.
  if ((UncommittedFlags(index) & mailbox::kFlagOverflow) != 0) return;
  std::vector<uint64_t> pending(parts_.config.events);
  AddUncommitted(index, pending);
  parts_.rotation->DeriveLive(channel, pending, sums);
}

// The flags that the next commits of the reduction channel will raise.
uint16_t LiveCounts::UncommittedFlags(size_t index) const {
  return parts_.channels.pending(index).flags |
         parts_.units.FlagsOf([&](uint8_t channel, uint8_t) { return parts_.channels.Feeds(index, channel); });
}

uint16_t LiveCounts::FlagsOf(BlockId block) const {
  uint16_t flags = parts_.channels.memory().header(block).flags;
  if (block == 0) flags |= UncommittedFlags(parts_.channels.hypervisor());
  for (uint8_t slice = 0; slice < parts_.config.slices; ++slice) {
    if (parts_.channels.IsBoundTo(slice, block)) flags |= UncommittedFlags(slice);
  }
  return flags;
}

void LiveCounts::Add(BlockId block, std::span<const uint16_t> events, std::span<uint64_t> sums) const {
  const auto committed = parts_.channels.memory().counters(block);
  std::vector<uint64_t> live(committed.begin(), committed.end());
  if (block == 0) AddUncommittedAndDerived(parts_.channels.hypervisor(), live);
  for (uint8_t slice = 0; slice < parts_.config.slices; ++slice) {
    if (parts_.channels.IsBoundTo(slice, block)) AddUncommittedAndDerived(slice, live);
  }
  for (size_t i = 0; i < events.size(); ++i) sums[i] += live[events[i]];
}

// --- LiveCounts by the register read path ----------------------------------------------------------------------------

// The firmware takes the whole block at once, so that counters of several managers are of one cycle.
void LiveCounts::Latch(size_t client, HpcManagerId manager, std::span<const uint16_t> events,
                       std::span<uint64_t> counts) {
  if (client != hpc_.firmware()) return Add(BlockOf(manager), events, counts);
  std::vector<uint16_t> all(parts_.config.events);
  std::iota(all.begin(), all.end(), uint16_t{0});
  block_ = {.cycle = parts_.units.now(),
            .counters = std::vector<uint64_t>(parts_.config.events),
            .flags = FlagsOf(requested_)};
  Add(requested_, all, block_->counters);
}

// A slice's client reaches residents only.
BlockId LiveCounts::BlockOf(HpcManagerId manager) const {
  const bool vm = manager.module >= hpc::kModuleVm;
  const auto slice = static_cast<uint8_t>(manager.module - (vm ? hpc::kModuleVm : hpc::kModuleContext));
  const Binding& resident = *parts_.residents.of(slice);
  return vm ? resident.vm : *resident.context;
}

HpcManagerId LiveCounts::ManagerOf(BlockId block) const {
  for (uint8_t slice = 0; slice < parts_.config.slices; ++slice) {
    const std::optional<Binding>& resident = parts_.residents.of(slice);
    if (resident && resident->vm == block) return {.module = static_cast<uint16_t>(hpc::kModuleVm + slice)};
    if (resident && resident->context == block) return {.module = static_cast<uint16_t>(hpc::kModuleContext + slice)};
  }
  return {.module = hpc::kModuleDevice};
}

void LiveCounts::RequestBlock(BlockId block) {
  const auto write = [this](HpcRegister which, uint64_t value) {
    hpc_.Write(hpc_.firmware(), which, value, HpcPrivilege::kFirmware, parts_.units.now());
  };
  block_.reset();
  requested_ = block;
  write(HpcRegister::kHpcc, 0);
  write(HpcRegister::kHpcm, 1);
  write(HpcRegister::kHpcc, uint64_t{ManagerOf(block).module} << hpc::kHpccModuleLsb | hpc::kHpccTrigger);
}

}  // namespace sideband::mcu
