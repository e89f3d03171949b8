// SPDX-License-Identifier: Apache-2.0
//
// What the firmware may ask of the chip that it runs beside.
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_DEVICE_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_DEVICE_H_

#include <cstdint>
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
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_DEVICE_H_
