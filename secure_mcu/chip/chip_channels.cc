// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/chip_channels.h"

#include <algorithm>

#include "absl/numeric/int128.h"
#include "secure_mcu/pipeline/hpc_client.h"

namespace sideband::mcu {
uint64_t NanosecondsAt(const PipelineConfig& config, uint64_t cycle) {
  // 128 bits: cycle * 10^9 exceeds 64 bits after 1.8 * 10^10 cycles.
  return absl::Uint128Low64(absl::uint128(cycle) * 1'000'000'000 / config.clock_hz);
}

ChipChannels::ChipChannels(const PipelineConfig& config, const std::shared_ptr<const EventMeanings>& meanings,
                           const Residents& residents)
    : config_(config),
      residents_(residents),
      hypervisor_(config.slices),
      arbiter_(config.grant_cycles),
      mmu_(config.slices),
      memory_(config.events),
      out_of_band_(config.events) {
  const auto add = [&](uint64_t period) {
    channels_.push_back({ReductionChannel(config.events, meanings), period, period == 0 ? kNoCycle : period});
  };
  for (uint32_t slice = 0; slice < config.slices; ++slice) add(config.commit_period);
  add(config.hypervisor_commit_period);
  if (config.out_of_band_commit_period > 0) add(config.out_of_band_commit_period);
}

void ChipChannels::Add(const Record& record) {
  if (!IsSelected(record.channel, record.select)) return Fault(record.channel);
  if (record.channel != kDeviceChannel) channels_[record.channel].reduction.Add(record);
  if (residents_.IsPrivate(record.channel)) return;
  for (size_t i = hypervisor_; i < channels_.size(); ++i) channels_[i].reduction.Add(record);
}

void ChipChannels::AddDerived(uint8_t channel, std::span<const uint64_t> gained) {
  if (channel != kDeviceChannel) channels_[channel].reduction.AddDerived(gained);
  if (residents_.IsPrivate(channel)) return;
  for (size_t i = hypervisor_; i < channels_.size(); ++i) channels_[i].reduction.AddDerived(gained);
}

uint64_t ChipChannels::NextCommit() const {
  uint64_t next = kNoCycle;
  for (const Channel& channel : channels_) next = std::min(next, channel.next_commit);
  return next;
}

void ChipChannels::ScheduleNext(size_t index, uint64_t cycle) {
  Channel& channel = channels_[index];
  channel.next_commit = (cycle / channel.commit_period + 1) * channel.commit_period;
}

void ChipChannels::Commit(size_t index, uint64_t cycle, uint64_t pipeline_cycle) {
  channels_[index].committed = cycle;
  ReductionChannel& reduction = channels_[index].reduction;
  if (!reduction.HasData()) return;
  arbiter_.Grant(pipeline_cycle);
  const uint64_t time_ns = NanosecondsAt(config_, cycle);
  if (index < hypervisor_) {
    CommitToSlice(static_cast<uint8_t>(index), time_ns);
  } else {
    (index == hypervisor_ ? memory_ : out_of_band_).AtomicAdd(0, reduction.reduction(), time_ns);
  }
  reduction.Clear();
}

void ChipChannels::CommitToSlice(uint8_t slice, uint64_t time_ns) {
  const Reduction& reduction = pending(slice);
  if (const auto to = CommitsTo(slice)) {
    memory_.AtomicAdd(to->vm, reduction, time_ns);
    if (to->context) memory_.AtomicAdd(*to->context, reduction, time_ns);
    return;
  }
  Fault(slice);
}

void ChipChannels::Fault(uint8_t slice) {
  ++faults_;
  const std::optional<Binding> meant = residents_.DestinationOf(slice);
  // The device's counts are no longer the sum of its VMs', unless they never had these.
  if (!residents_.IsPrivate(slice)) memory_.RaiseFlags(0, mailbox::kFlagMmuFault);
  if (meant) memory_.RaiseFlags(meant->vm, mailbox::kFlagMmuFault);
  if (meant && meant->context) memory_.RaiseFlags(*meant->context, mailbox::kFlagMmuFault);
}

void ChipChannels::Rebind(uint8_t slice) {
  const auto to = residents_.DestinationOf(slice);
  const auto target = to ? std::optional(memory_.TargetOf(*to)) : std::nullopt;
  channels_[slice].reduction.PointTo(target);
  mmu_.SetRoot(slice, target ? memory_.page_tables().RootOf(target->space) : std::nullopt);
}

bool ChipChannels::IsBoundTo(uint8_t slice, BlockId block) const {
  // A commit that the MMU would not let through never happens.
  const std::optional<Binding> to = CommitsTo(slice);
  return to && (to->vm == block || to->context == block);
}

}  // namespace sideband::mcu
