// SPDX-License-Identifier: Apache-2.0
//
// What the firmware may ask of the chip that it runs beside.
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_DEVICE_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_DEVICE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "proto/base/uuid.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::mcu {

struct DeviceIdentity {
  Uuid uuid;
  std::string serial;       // at most 16 characters are shown
  std::string part_number;  // at most 24
  uint64_t boot_id = 0;     // another one after each start
};

// Bit n: slice n.
using SliceSet = uint64_t;
inline constexpr SliceSet kEverySlice = ~SliceSet{0};

// One memory block as its newest commits left it.
struct BlockView {
  std::span<const uint64_t> counters;  // until the device counts on
  uint32_t generation = 0;
  uint64_t reference_time_ns = 0;  // the commits are as of then
  SliceSet slices = 0;             // where its VM or context has its turns
};

struct MemoryUse {
  uint32_t reserved_mib = 0;
  uint32_t used_mib = 0;  // by the contexts that there are, but for those of confidential VMs
};

// Not thread-safe.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceIdentity& identity() const = 0;
  virtual const mailbox::Catalog& catalog() const = 0;
  // Another one whenever the catalogue has changed, which it does between latches only by Acknowledge.
  virtual uint64_t catalog_version() const { return 0; }
  // Triggers and flushes all units and copies every memory block at that instant. Fills all but the ids and the
  // catalogue's hash, which are the firmware's.
  virtual mailbox::Snapshot Latch() = 0;
  // The controller holds the newest latched snapshot: blocks that were retired in it have served.
  virtual void Acknowledge() {}
  // The hypervisor's block and the reference time now; without a trigger, thus as old as the last commit.
  virtual std::span<const uint64_t> DeviceCounters() = 0;
  virtual uint64_t ReferenceTimeNs() = 0;
  // The block of the hypervisor, a VM (mailbox::kNoContext) or a context, without a trigger: as of the last call of
  // Latch or DeviceCounters, so that several are of one moment. None where there is no such block.
  virtual std::optional<BlockView> BlockCounters(uint16_t /*vm*/, uint16_t /*context*/) { return std::nullopt; }
  // The most that the counter of an event gains in a cycle of the reference clock on these slices: how many wires of
  // one bit it adds up, each as what it is worth. Units of the device's scope belong to kEverySlice. 0 where there are
  // none.
  virtual double GainPerCycle(uint16_t /*event*/, SliceSet /*slices*/) const { return 0; }
  // None where nothing is known of it.
  virtual std::optional<MemoryUse> GetMemoryUse() { return std::nullopt; }
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_DEVICE_H_
