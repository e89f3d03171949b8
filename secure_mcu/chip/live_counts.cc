// SPDX-License-Identifier: Apache-2.0
//
// Chip::AddLiveCounts: a count on its way is in exactly one place, so a live count is the sum over all places.
#include <algorithm>
#include <numeric>

#include "secure_mcu/chip/chip.h"

namespace sideband::mcu {

bool Chip::IsBoundTo(uint8_t slice, BlockId block) const {
  // What the MMU would not let through is never committed.
  const std::optional<Binding> to = CommitsTo(slice);
  return to && (to->vm == block || to->context == block);
}

void Chip::AddShare(size_t ccu, size_t counter, uint64_t count, std::span<uint64_t> sums) const {
  const EventShare& share = (*meanings_)[ccus_[ccu].select()][ccu][counter];
  AddSaturating(count << share.shift, sums[share.event]);
}

void Chip::AddCollected(const CounterCollectionUnit& ccu, std::span<uint64_t> sums) const {
  std::vector<uint64_t> counts(ccu.config().counters);
  if (!HasItsSelection(ccu)) return;  // its records will fault
  ccu.AddCounts(counts);
  for (size_t i = 0; i < counts.size(); ++i) AddShare(ccu.config().id, i, counts[i], sums);
}

void Chip::AddHeld(const Unit& unit, std::span<uint64_t> sums) const {
  if (!HasItsSelection(ccus_[unit.ccu])) return;
  const std::vector<uint16_t>& mapping = ccus_[unit.ccu].config().mapping[unit.index];
  std::vector<uint64_t> counts(mapping.size());
  unit.ulc.AddHeld(wires_[unit.wiring]->domain(unit.domain), counts);
  for (size_t i = 0; i < counts.size(); ++i) {
    if (mapping[i] != CounterCollectionUnit::kMasked) AddShare(unit.ccu, mapping[i], counts[i], sums);
  }
}

// All that the next commits of the channel will add: of one slice, or for the hypervisor's channel of the whole device.
void Chip::AddUncommitted(size_t channel, std::span<uint64_t> sums) const {
  const std::vector<uint64_t>& reduced = channels_[channel].reduction.reduction().counts;
  for (size_t event = 0; event < reduced.size(); ++event) AddSaturating(reduced[event], sums[event]);
  const ChannelBuffer& buffer = mover_.buffer();
  for (size_t i = 0; i < buffer.size(); ++i) {
    const Record& record = buffer.at(i);
    if (!Feeds(channel, record.channel) || !HasItsSelection(record)) continue;
    for (uint16_t k = 0; k < record.size; ++k) {
      AddShare(record.ccu, record.first + k, record.counts[k], sums);
    }
  }
  for (const CounterCollectionUnit& ccu : ccus_) {
    if (Feeds(channel, ccu.config().channel)) AddCollected(ccu, sums);
  }
  for (const Unit& unit : units_) {
    if (Feeds(channel, unit.channel)) AddHeld(unit, sums);
  }
}

// What a flush would derive, too.
void Chip::AddUncommittedAndDerived(size_t channel, std::span<uint64_t> sums) const {
  AddUncommitted(channel, sums);
  if (!rotation_) return;
  for (uint8_t slice = 0; slice < config_.slices; ++slice) {
    if (Feeds(channel, slice)) AddLiveDerived(slice, sums);
  }
  if (channel == hypervisor_) AddLiveDerived(kDeviceChannel, sums);
}

void Chip::AddLiveDerived(uint8_t channel, std::span<uint64_t> sums) const {
  if (!Turns(channel)) return;
  // Of which event counts are missing is seen where they are reduced.
  if ((UncommittedFlags(CommitterOf(channel)) & mailbox::kFlagOverflow) != 0) return;
  std::vector<uint64_t> pending(config_.events);
  AddUncommitted(CommitterOf(channel), pending);
  rotation_->Derive(channel, InstantOf(channel), pending, sums);
}

// What the next commits of the channel will raise.
uint16_t Chip::UncommittedFlags(size_t channel) const {
  uint16_t flags = channels_[channel].reduction.reduction().flags;
  const ChannelBuffer& buffer = mover_.buffer();
  for (size_t i = 0; i < buffer.size(); ++i) {
    if (Feeds(channel, buffer.at(i).channel)) flags |= buffer.at(i).flags;
  }
  for (const CounterCollectionUnit& ccu : ccus_) {
    if (Feeds(channel, ccu.config().channel)) flags |= ccu.flags();
  }
  return flags;
}

uint16_t Chip::LiveFlags(BlockId block) const {
  uint16_t flags = memory_.header(block).flags;
  if (block == 0) flags |= UncommittedFlags(hypervisor_);
  for (uint8_t slice = 0; slice < config_.slices; ++slice) {
    if (IsBoundTo(slice, block)) flags |= UncommittedFlags(slice);
  }
  return flags;
}

void Chip::AddLiveCounts(BlockId block, std::span<const uint16_t> events, std::span<uint64_t> sums) const {
  const auto committed = memory_.counters(block);
  std::vector<uint64_t> live(committed.begin(), committed.end());
  if (block == 0) AddUncommittedAndDerived(hypervisor_, live);
  for (uint8_t slice = 0; slice < config_.slices; ++slice) {
    if (IsBoundTo(slice, block)) AddUncommittedAndDerived(slice, live);
  }
  for (size_t i = 0; i < events.size(); ++i) sums[i] += live[events[i]];
}

// --- The register read path -----------------------------------------------------------------------------------------

// The firmware takes the whole block at once, so that counters of several managers are of one cycle.
void Chip::LatchLiveCounts(size_t client, HpcManagerId manager, std::span<const uint16_t> events,
                           std::span<uint64_t> counts) {
  if (client != hpc_.firmware()) return AddLiveCounts(BlockOf(manager), events, counts);
  std::vector<uint16_t> all(config_.events);
  std::iota(all.begin(), all.end(), uint16_t{0});
  live_block_ = {
      .cycle = now_, .counters = std::vector<uint64_t>(config_.events), .flags = LiveFlags(requested_block_)};
  AddLiveCounts(requested_block_, all, live_block_->counters);
}

// A slice's client reaches residents only.
BlockId Chip::BlockOf(HpcManagerId manager) const {
  const bool vm = manager.module >= hpc::kModuleVm;
  const Binding& resident = *bound_[manager.module - (vm ? hpc::kModuleVm : hpc::kModuleContext)];
  return vm ? resident.vm : *resident.context;
}

HpcManagerId Chip::ManagerOf(BlockId block) const {
  for (uint16_t slice = 0; slice < config_.slices; ++slice) {
    const std::optional<Binding>& resident = bound_[slice];
    if (resident && resident->vm == block) return {.module = static_cast<uint16_t>(hpc::kModuleVm + slice)};
    if (resident && resident->context == block) return {.module = static_cast<uint16_t>(hpc::kModuleContext + slice)};
  }
  return {.module = hpc::kModuleDevice};
}

void Chip::RequestLiveBlock(BlockId block) {
  const auto write = [this](HpcRegister which, uint64_t value) {
    hpc_.Write(hpc_.firmware(), which, value, HpcPrivilege::kFirmware, now_);
  };
  live_block_.reset();
  requested_block_ = block;
  write(HpcRegister::kHpcc, 0);
  write(HpcRegister::kHpcm, 1);
  write(HpcRegister::kHpcc, uint64_t{ManagerOf(block).module} << hpc::kHpccModuleLsb | hpc::kHpccTrigger);
}

bool Chip::WriteHpc(uint8_t slice, HpcRegister which, uint64_t value, HpcPrivilege privilege, HpcHalf half) {
  const bool allowed = hpc_.Write(slice, which, value, privilege, now_, half);
  if (privilege == HpcPrivilege::kSupervisor && which == HpcRegister::kHpcc && bound_[slice]) {
    vm_controls_[bound_[slice]->vm].useren = hpc_.useren(slice);
    if ((value & hpc::kHpccInterrupted) != 0 && half != HpcHalf::kHigh) guest_gates_[bound_[slice]->vm].ForgetContext();
  }
  return allowed;
}

HpcResident Chip::HpcResidentOf(const std::optional<Binding>& binding) const {
  if (!hosts_.HasResident(binding)) return {};
  const auto control = vm_controls_.find(binding->vm);
  return {.vm = true,
          .context = binding->context.has_value(),
          .useren = control != vm_controls_.end() && control->second.useren};
}

}  // namespace sideband::mcu
