// SPDX-License-Identifier: Apache-2.0
//
// The firmware's interface to the chip that it runs beside, and to what seals the blocks of confidential VMs.
//
//   BlockSealer* const sealer = device.block_sealer();
//   if (sealer == nullptr) return Fail(mailbox::MailboxStatus::kErrOpcode);
//   const absl::StatusOr<Bytes> challenge = sealer->DrawChallenge(/*vm=*/3);
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_DEVICE_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_DEVICE_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/base/uuid.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/clocks.h"
#include "proto/mailbox/counting.h"
#include "proto/mailbox/rotation.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::mcu {

struct DeviceIdentity {
  Uuid uuid;
  std::string serial;                  // at most 16 characters are shown
  std::string part_number;             // at most 24
  std::string name;                    // as marketed; at most 24; empty: it has none
  uint64_t boot_id = 0;                // differs after each start
  std::optional<uint32_t> memory_mib;  // total, including the reserve
};

// Bit n: slice n.
using SliceSet = uint64_t;
inline constexpr SliceSet kEverySlice = ~SliceSet{0};

// The count of a block's multiplexed event, as of the ends of its last turns.
struct RotatedCount {
  uint16_t event = 0;
  uint64_t estimate = 0;       // may be behind the counter, which is at its newest commit
  mailbox::RotationTime time;  // as by mailbox::TimeOf

  // Turns of other events have passed, and none of this one.
  bool is_unknown() const { return time.enabled > 0 && time.running == 0; }
};

// One memory block as of its newest commits.
struct BlockView {
  std::span<const uint64_t> counters;  // what was counted; valid until the device counts on
  uint32_t generation = 0;
  uint64_t reference_time_ns = 0;  // time of the commits
  SliceSet slices = 0;             // on which its VM or context has turns
  // The counts of all events that are not counted all the time, in the catalogue's order; none without a rotation.
  std::vector<RotatedCount> rotated = {};

  const RotatedCount* FindRotated(uint16_t event) const {
    const auto found = std::ranges::lower_bound(rotated, event, {}, &RotatedCount::event);
    return found != rotated.end() && found->event == event ? &*found : nullptr;
  }
  // The estimate of a multiplexed event, and the count of any other.
  uint64_t CountOf(uint16_t event) const {
    const RotatedCount* const own = FindRotated(event);
    return own == nullptr ? counters[event] : std::max(counters[event], own->estimate);
  }
};

// One memory block as it would be after a latch at this cycle.
struct LiveBlock {
  std::vector<uint64_t> counters;  // in the catalogue's order of events
  uint32_t generation = 0;
  uint64_t reference_cycle = 0;
  uint64_t reference_time_ns = 0;
  uint16_t flags = 0;  // mailbox::BlockFlag, of the commits
};

struct MemoryUse {
  uint32_t reserved_mib = 0;
  uint32_t used_mib = 0;  // by existing contexts, except those of confidential and private VMs
};

// The clock by which the workload runs, in Hz.
struct WorkloadClock {
  std::vector<uint64_t> levels;  // ascending, at least one
  uint64_t hz = 0;               // now: one of them
};

// Triggers by controllers (opcode TRIGGER). Not thread-safe, like all of these.
class DeviceTriggers {
 public:
  virtual ~DeviceTriggers() = default;
  // Swaps the banks of every unit that counts, as a register write does; nothing is flushed. Returns the number.
  virtual uint32_t Trigger() = 0;
  // Further triggers at the multiples of `period` reference cycles, from now on; 0: no longer. INVALID_ARGUMENT if the
  // period is too short.
  virtual absl::Status SetTriggerGrid(uint64_t period) = 0;
};

// Bookmarks, and the clock domains that the catalogue has (clocks.md).
class DeviceClocks {
 public:
  virtual ~DeviceClocks() = default;
  // The domains of the mask answer commanded triggers and the grid's. INVALID_ARGUMENT: there is no such domain.
  virtual absl::Status SelectClocks(uint64_t domains) = 0;
  // Asks for a bookmark of a VM (mailbox::kNoContext) or a context, and returns the reference time; of VM 0, it is in
  // the packets of all later triggers. NOT_FOUND: no such scope, or a confidential VM's. UNAVAILABLE: it has a pending
  // one. FAILED_PRECONDITION: there is no grid of triggers.
  virtual absl::StatusOr<uint64_t> SetBookmark(uint16_t vm, uint16_t context, uint32_t bookmark) = 0;
  // The triggers that are remembered from one on, and the clocks that have answered one of them. The firmware sets
  // the boot ID.
  virtual mailbox::Timeline GetTimeline(uint32_t first_trigger_id) = 0;
  virtual mailbox::ClockHulls GetHulls(uint32_t first_trigger_id) = 0;
};

// The configuration of counting of a device with gate groups (virtual-counters.md).
class DeviceCounting {
 public:
  virtual ~DeviceCounting() = default;
  // In force now.
  virtual mailbox::CountingConfig GetConfig() = 0;
  // Whether the device can take a change of the configuration. INVALID_ARGUMENT names what it cannot.
  virtual absl::Status CheckConfig(const mailbox::CountingConfig& config) = 0;
  // Makes the configuration that CheckConfig accepted hold from the instant of the last Latch on, under the next
  // revision. Device time has not passed since.
  virtual void ApplyConfig(const mailbox::CountingConfig& config) = 0;
};

// Plans by which events are multiplexed (counter-rotation.md).
class DeviceRotation {
 public:
  virtual ~DeviceRotation() = default;
  // The plan in force for a VM, or for a context; nullopt if there is no such VM or context, or nothing rotates there.
  virtual std::optional<mailbox::RotationPlan> GetRotation(uint16_t vm, uint16_t context) = 0;
  // Makes plans of what is asked for, in force from each context's next residency on; the same again changes nothing.
  // INVALID_ARGUMENT names what the device cannot count.
  virtual absl::Status ApplyRotation(const mailbox::RotationRequest& request) = 0;
  // Stores when the scope fluctuates, by its own time. FAILED_PRECONDITION where nothing can be learnt.
  virtual absl::Status LearnRotation(uint16_t vm, uint16_t context) = 0;
  // Sets the pass of profile kTwoSet that the scope's next generation counts.
  virtual absl::Status SetPass(uint16_t vm, uint16_t context, uint32_t pass) = 0;
};

// Seals the blocks of confidential VMs (security.md, "Sealed records"). The records themselves are in what
// Device::Latch returns. Not thread-safe. A VM is one of the catalogue, by its ID.
class BlockSealer {
 public:
  virtual ~BlockSealer() = default;
  // The bytes of an exchange::Challenge. NOT_FOUND: no such confidential VM, or no guest is trusted with its keys.
  // RESOURCE_EXHAUSTED: too many in too short a time.
  virtual absl::StatusOr<Bytes> DrawChallenge(uint16_t vm) = 0;
  // The answer to an exchange's request, from which on the VM's records are sealed for it. Errors say why the request
  // is refused, and must not leave the device.
  virtual absl::StatusOr<Bytes> Exchange(ByteSpan request) = 0;
  // The number of the VM's newest epoch, which is a new one unless that is unused or a second old at most. NOT_FOUND:
  // its guest has exchanged no keys, or there is no such VM. RESOURCE_EXHAUSTED: its guest has to exchange keys again
  // first.
  virtual absl::StatusOr<uint64_t> Rotate(uint16_t vm) = 0;
  // The records of the VM's newest exchange; nullopt: as NOT_FOUND of Rotate.
  virtual std::optional<uint64_t> Records(uint16_t vm) const = 0;
};

// Not thread-safe.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceIdentity& identity() const = 0;
  virtual const mailbox::Catalog& catalog() const = 0;
  // Differs whenever the catalogue has changed. Between latches only Acknowledge changes the catalogue.
  virtual uint64_t catalog_version() const { return 0; }
  // Whether VMs can be private (catalog.h). A device without confidential VMs need not tell.
  virtual bool HasPrivateVms() const { return false; }
  // Triggers and flushes all units, and copies every memory block at that instant. Fills all fields except the ids and
  // the catalogue hash, which the firmware sets.
  virtual mailbox::Snapshot Latch() = 0;
  // The controller holds the newest latched snapshot: blocks that were retired in it are no longer needed.
  virtual void Acknowledge() {}
  // The counters of the whole device, without private VMs, and the current reference time. No trigger is caused, so the
  // counters are as old as the last commit.
  virtual std::span<const uint64_t> DeviceCounters() = 0;
  virtual uint64_t ReferenceTimeNs() = 0;
  // The block of the device (VM 0), of a slice's host (VM 0, context = slice), a VM (mailbox::kNoContext) or a context,
  // without a trigger: as of the last call of Latch or DeviceCounters, so that several blocks refer to one instant.
  // nullopt if the block does not exist.
  virtual std::optional<BlockView> BlockCounters(uint16_t /*vm*/, uint16_t /*context*/) { return std::nullopt; }
  // The live counters of a block, as for BlockCounters: all of one cycle, without a trigger, which nothing that follows
  // can tell. nullopt if the block does not exist. (registers.md, "Out of band: opcode 67 PEEK")
  virtual std::optional<LiveBlock> PeekBlock(uint16_t /*vm*/, uint16_t /*context*/) { return std::nullopt; }
  // The largest count that an event gains in a cycle of the reference clock on these slices: the number of one-bit
  // wires that it adds up, each multiplied by its weight. Device-scope units belong to kEverySlice. 0 if the event has
  // no wires.
  virtual double GainPerCycle(uint16_t /*event*/, SliceSet /*slices*/) const { return 0; }
  // Parts that only some devices have; nullptr: this one does not. Each lives as long as the device.
  virtual DeviceTriggers* triggers() { return nullptr; }
  // Needs triggers.
  virtual DeviceClocks* clocks() { return nullptr; }
  virtual DeviceCounting* counting() { return nullptr; }
  virtual DeviceRotation* rotation() { return nullptr; }
  // Seals the blocks of confidential VMs; nullptr: the device does not seal. With it, what Latch returns has no blocks
  // of confidential VMs, but the records of those that have exchanged keys.
  virtual BlockSealer* block_sealer() { return nullptr; }
  // nullopt: the workload runs by the reference clock, which is never lowered.
  virtual std::optional<WorkloadClock> GetWorkloadClock() const { return std::nullopt; }
  // Sets it to one of its levels from now on. (clocks.md)
  virtual void SetWorkloadClock(uint64_t /*hz*/) {}
  // nullopt if the memory use is unknown.
  virtual std::optional<MemoryUse> GetMemoryUse() { return std::nullopt; }
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_DEVICE_H_
