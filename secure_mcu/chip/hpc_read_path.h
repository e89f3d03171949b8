// SPDX-License-Identifier: Apache-2.0
//
// The register read path of a chip: a client per slice for its resident, one for the firmware, and the managers that
// they ask (registers.md).
//
//   HpcReadPath path({.slices = 2, .events = 100}, latch);
//   path.Write(/*client=*/0, HpcRegister::kHpcm, 0b11, HpcPrivilege::kUser, cycle);
//   path.Write(0, HpcRegister::kHpcc, hpc::kHpccTrigger, HpcPrivilege::kUser, cycle);
//   while (path.NextStop() <= cycle) path.RunTo(cycle);      // the chip has counted up to `cycle`
//   path.Read(0, HpcRegister::kHpcr, cycle);
//
// Without requests the path has no next stop and costs nothing.
#ifndef SIDEBAND_SECURE_MCU_CHIP_HPC_READ_PATH_H_
#define SIDEBAND_SECURE_MCU_CHIP_HPC_READ_PATH_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "secure_mcu/pipeline/hpc.h"
#include "secure_mcu/pipeline/hpc_client.h"
#include "secure_mcu/pipeline/hpc_interconnect.h"

namespace sideband::mcu {

// The meaning of a slice's binding for its client.
struct HpcResident {
  bool vm = false;       // a VM is resident
  bool context = false;  // with a context
  bool useren = false;   // of the VM's control block
};

// Not thread-safe.
class HpcReadPath {
 public:
  struct Config {
    uint32_t slices = 1;
    uint32_t events = 0;
    HpcTiming timing;
    // Bit b of element x: residents may read event 64 * x + b, since units of slices count it; the counter of any other
    // event is 0 in their blocks, which is no count. Empty: all events.
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

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_HPC_READ_PATH_H_
