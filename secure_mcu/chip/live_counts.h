// SPDX-License-Identifier: Apache-2.0
//
// The counts that a latch would leave in a block, read at any cycle: those committed, and those on their way in the
// pipeline of every slice that is bound to the block. Nothing is moved, and nothing that follows depends on a read.
// Also here: the registers by which they are read (registers.md), a client per slice for its resident, one for the
// firmware, and the managers that they ask. Without requests the read path has no next stop and costs nothing.
//   live.Add(context, events, sums);                        // at once
//   live.RequestBlock(context);                             // as the firmware reads, by the registers of the read path
//   chip.AdvanceTo(live.hpc().NextStop());
//   if (const auto block = live.TakeBlock()) Publish(block->counters);
//
//   HpcReadPath path({.slices = 2, .events = 100}, latch);
//   path.Write(/*client=*/0, HpcRegister::kHpcm, 0b11, HpcPrivilege::kUser, cycle);
//   path.Write(0, HpcRegister::kHpcc, hpc::kHpccTrigger, HpcPrivilege::kUser, cycle);
//   while (path.NextStop() <= cycle) path.RunTo(cycle);      // the chip has counted up to `cycle`
//   path.Read(0, HpcRegister::kHpcr, cycle);
#ifndef SIDEBAND_SECURE_MCU_CHIP_LIVE_COUNTS_H_
#define SIDEBAND_SECURE_MCU_CHIP_LIVE_COUNTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "secure_mcu/chip/chip_channels.h"
#include "secure_mcu/chip/chip_rotation.h"
#include "secure_mcu/chip/chip_units.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/chip/residents.h"
#include "secure_mcu/pipeline/hpc_client.h"
#include "secure_mcu/pipeline/hpc_interconnect.h"

namespace sideband::mcu {

// The meaning of a slice's binding for its client.
struct HpcResident {
  bool vm = false;       // a VM is resident
  bool context = false;  // with a context
  bool useren = false;   // of the VM's control block
};

// The register read path of a chip: a client per slice for its resident, one for the firmware, and the managers that
// they ask. Not thread-safe.
class HpcReadPath {
 public:
  struct Config {
    uint32_t slices = 1;
    uint32_t events = 0;
    HpcTiming timing;
    // Bit b of element x: residents may read event 64 * x + b, since units of slices count it; the counter of any other
    // event is 0 in their blocks, which is not a count. Empty: all events.
    std::vector<uint64_t> of_residents = {};
  };
  // Writes the live counts of a manager's events, for a client, as of the chip's current cycle.
  using Latch = std::function<void(size_t client, HpcManagerId manager, std::span<const uint16_t> events,
                                   std::span<uint64_t> counts)>;

  HpcReadPath(const Config& config, Latch latch);

  // The client of slice n is client n; the firmware's has the number of slices.
  size_t firmware() const { return config_.slices; }

  // The same as HpcClient's.
  uint64_t Read(size_t client, HpcRegister which, uint64_t cycle, HpcHalf half = HpcHalf::kWhole);
  bool Write(size_t client, HpcRegister which, uint64_t value, HpcPrivilege privilege, uint64_t cycle,
             HpcHalf half = HpcHalf::kWhole);
  bool useren(size_t client) const { return clients_[client].useren(); }

  // A context switch of the slice: its client is cleared, and nothing that it asked for is under way afterwards.
  void Switch(uint8_t slice, const HpcResident& resident, uint64_t cycle);

  // The next cycle at which the chip must call RunTo, having counted the cycles below; kNoCycle if none.
  uint64_t NextStop() const { return next_stop_; }
  // Does what is due at `cycle`.
  void RunTo(uint64_t cycle);

 private:
  uint64_t EventsOf(HpcManagerId manager) const;
  uint64_t OfResidents(HpcManagerId manager) const;
  uint64_t Readable(size_t client, HpcManagerId manager, HpcPrivilege privilege) const;
  void Settle(size_t client);
  void MakeGrant();
  void FindNextStop();

  const Config config_;
  const Latch latch_;
  std::vector<HpcResident> residents_;  // per slice
  std::vector<HpcClient> clients_;
  std::vector<uint64_t> departures_;  // per client, as its NextDeparture
  HpcInterconnect interconnect_;
  uint64_t next_stop_ = kNoCycle;
};

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
