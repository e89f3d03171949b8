// SPDX-License-Identifier: Apache-2.0
//
// The counts that a latch would leave in a block, read at any cycle: those committed, and those on their way in the
// pipeline of every slice that is bound to the block. Nothing is moved, and nothing that follows depends on a read.
//   live.Add(context, events, sums);                        // at once
//   live.RequestBlock(context);                             // as the firmware reads, by the registers of the read path
//   chip.AdvanceTo(live.hpc().NextStop());
//   if (const auto block = live.TakeBlock()) Publish(block->counters);
#ifndef SIDEBAND_SECURE_MCU_CHIP_LIVE_COUNTS_H_
#define SIDEBAND_SECURE_MCU_CHIP_LIVE_COUNTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "secure_mcu/chip/chip_channels.h"
#include "secure_mcu/chip/chip_parts.h"
#include "secure_mcu/chip/chip_rotation.h"
#include "secure_mcu/chip/chip_units.h"
#include "secure_mcu/chip/hpc_read_path.h"
#include "secure_mcu/chip/pipeline_config.h"

namespace sideband::mcu {

// The parts of a chip in which counts are; they must outlive their reader.
struct CountedParts {
  const PipelineConfig& config;
  const ChipUnits& units;
  const ChipChannels& channels;
  const Residents& residents;
  const std::optional<ChipRotation>& rotation;
};

// Not thread-safe.
class LiveCounts {
 public:
  // All counters of a block at one cycle, as a latch at that cycle would leave them.
  struct Block {
    uint64_t cycle = 0;
    std::vector<uint64_t> counters;
    uint16_t flags = 0;  // mailbox::BlockFlag: of the block, and of what is on its way to it
  };

  explicit LiveCounts(const CountedParts& parts);
  LiveCounts(const LiveCounts&) = delete;
  LiveCounts& operator=(const LiveCounts&) = delete;

  // Adds to sums[i] what the block's counter of events[i] would be after a latch now. A counter on the way that has
  // saturated is too low, as it will be once it is committed.
  void Add(BlockId block, std::span<const uint16_t> events, std::span<uint64_t> sums) const;

  // The registers by which residents, and the firmware, read live counts. Accesses are at the chip's present cycle.
  HpcReadPath& hpc() { return hpc_; }
  uint64_t NextStop() const { return hpc_.NextStop(); }
  // The firmware's client asks for the block, at the manager of a slice where it is resident, else at the device's. The
  // answer is there once the manager has granted it, after HpcReadPath::NextStop at the latest. A new request replaces
  // one that is not answered.
  void RequestBlock(BlockId block);
  std::optional<Block> TakeBlock() { return std::exchange(block_, std::nullopt); }

 private:
  uint16_t UncommittedFlags(size_t index) const;
  uint16_t FlagsOf(BlockId block) const;
  void AddUncommitted(size_t index, std::span<uint64_t> sums) const;
  void AddUncommittedAndDerived(size_t index, std::span<uint64_t> sums) const;
  void AddDerived(uint8_t channel, std::span<uint64_t> sums) const;
  void Latch(size_t client, HpcManagerId manager, std::span<const uint16_t> events, std::span<uint64_t> counts);
  BlockId BlockOf(HpcManagerId manager) const;
  HpcManagerId ManagerOf(BlockId block) const;

  const CountedParts parts_;
  HpcReadPath hpc_;
  BlockId requested_ = 0;  // by the firmware
  std::optional<Block> block_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_LIVE_COUNTS_H_
