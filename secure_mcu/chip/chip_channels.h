// SPDX-License-Identifier: Apache-2.0
//
// The second half of the pipeline: reduction channels, arbiter, MMU and memory blocks. A slice's channel commits to the
// blocks of its resident; the hypervisor's and the out-of-band one count the whole device, without private VMs.
//   ChipChannels channels(config, meanings, residents);
//   channels.Add(record);
//   channels.Commit(channels.IndexOf(0), /*cycle=*/100, /*pipeline_cycle=*/130);
//   channels.memory().counters(block);
#ifndef SIDEBAND_SECURE_MCU_CHIP_CHIP_CHANNELS_H_
#define SIDEBAND_SECURE_MCU_CHIP_CHIP_CHANNELS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/chip/residents.h"
#include "secure_mcu/pipeline/memory_blocks.h"
#include "secure_mcu/pipeline/record.h"
#include "secure_mcu/pipeline/reduction_channel.h"

namespace sideband::mcu {

// Reference cycle `cycle`, as nanoseconds since cycle 0.
uint64_t NanosecondsAt(const PipelineConfig& config, uint64_t cycle);

// `index` is a reduction channel's: of the slices, then the hypervisor's, then the out-of-band one if configured.
// `channel` is a slice or kDeviceChannel. Not thread-safe.
class ChipChannels {
 public:
  // `config` and `residents` must outlive it.
  ChipChannels(const PipelineConfig& config, const std::shared_ptr<const EventMeanings>& meanings,
               const Residents& residents);

  MemoryBlocks& memory() { return memory_; }
  const MemoryBlocks& memory() const { return memory_; }
  Mmu& mmu() { return mmu_; }
  const MemoryBlocks& out_of_band() const { return out_of_band_; }
  const Arbiter& arbiter() const { return arbiter_; }
  uint64_t faults() const { return faults_; }

  size_t size() const { return channels_.size(); }
  size_t hypervisor() const { return hypervisor_; }
  // Where the channel's counts wait for their commit.
  size_t IndexOf(uint8_t channel) const { return channel == kDeviceChannel ? hypervisor_ : channel; }
  const Reduction& pending(size_t index) const { return channels_[index].reduction.reduction(); }
  bool HasData(size_t index) const { return channels_[index].reduction.HasData(); }
  // Whether what is counted on the channel goes to that reduction channel.
  bool Feeds(size_t index, uint8_t channel) const {
    return index == hypervisor_ ? !residents_.IsPrivate(channel) : channel == index;
  }
  // Whether what was counted under that select may be committed: only what the channel's resident has selected.
  bool IsSelected(uint8_t channel, uint8_t select) const {
    return channel == kDeviceChannel || select == mmu_.selection(channel);
  }

  // A record goes to its slice's channel, and to those of the device unless the resident is private. One of another
  // selection than the resident's faults.
  void Add(const Record& record);
  // The same with what rotation has derived, by event.
  void AddDerived(uint8_t channel, std::span<const uint64_t> gained);

  // The first cycle at which a periodic commit is due.
  uint64_t NextCommit() const;
  bool IsDue(size_t index, uint64_t cycle) const { return cycle >= channels_[index].next_commit; }
  // After a commit that was due: the next one is on the channel's own grid, however late this one is.
  void ScheduleNext(size_t index, uint64_t cycle);
  // Also without data: the blocks are complete as of `cycle`. `pipeline_cycle` is the arbiter's.
  void Commit(size_t index, uint64_t cycle, uint64_t pipeline_cycle);
  // The cycle of the last commit.
  uint64_t committed(uint8_t channel) const { return channels_[IndexOf(channel)].committed; }

  // Points the slice's channel, and its root in the MMU, to where its counts go. Together: between the two, a commit
  // would fault.
  void Rebind(uint8_t slice);
  // Whether the slice's counts will be committed to the block.
  bool IsBoundTo(uint8_t slice, BlockId block) const;

 private:
  // A reduction channel and its periodic commits.
  struct Channel {
    ReductionChannel reduction;
    uint64_t commit_period;  // 0: never
    uint64_t next_commit;
    uint64_t committed = 0;
  };

  std::optional<Binding> CommitsTo(uint8_t slice) const {
    return mmu_.Translate(slice, channels_[slice].reduction.target(), memory_);
  }
  void CommitToSlice(uint8_t slice, uint64_t time_ns);
  void Fault(uint8_t slice);

  const PipelineConfig& config_;
  const Residents& residents_;
  const size_t hypervisor_;
  std::vector<Channel> channels_;
  Arbiter arbiter_;
  Mmu mmu_;
  MemoryBlocks memory_;
  MemoryBlocks out_of_band_;  // the microcontroller's own: one block
  uint64_t faults_ = 0;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_CHIP_CHANNELS_H_
