// SPDX-License-Identifier: Apache-2.0
//
// ASYNC_REQUEST (opcode 0x10): what does not fit into a register is put into the scratch memory.
//   AsyncRequests requests(device, sensors, monitor, scratch);
//   const Reply accepted = requests.Execute(/*energy*/ 0x08, /*dword*/ 4);
//   requests.Execute(/*poll*/ 0xFF, accepted.data).data;        // AsyncStatus
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_ASYNC_REQUESTS_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_ASYNC_REQUESTS_H_

#include <cstdint>
#include <deque>
#include <vector>

#include "proto/mailbox/async_request.h"
#include "secure_mcu/firmware/device.h"
#include "secure_mcu/firmware/performance_monitor.h"
#include "secure_mcu/firmware/reply.h"
#include "secure_mcu/firmware/scratch_memory.h"
#include "secure_mcu/firmware/sensors.h"

namespace sideband::mcu {

// Every request is accepted, carried out at once, and polled for how it ended: that of the last kRemembered ones is
// known, and polling for any other id is ERR_ARG2. Results go to the scratch memory's destination page. Not
// thread-safe.
class AsyncRequests {
 public:
  static constexpr size_t kRemembered = 16;

  // All must outlive it.
  AsyncRequests(Device& device, Sensors& sensors, PerformanceMonitor& monitor, ScratchMemory& scratch)
      : device_(device), sensors_(sensors), monitor_(monitor), scratch_(scratch) {}

  Reply Execute(uint8_t type, uint8_t arg2);

  // Whether the device has what a utilisation or a memory capacity is made of.
  bool HasUtilization() const;
  bool HasMemoryCapacity() const { return device_.GetMemoryUse().has_value(); }

 private:
  struct Result {
    mailbox::AsyncStatus status;
    std::vector<uint32_t> dwords;
  };
  struct Ended {
    uint8_t id;
    mailbox::AsyncStatus status;
  };

  Reply Submit(uint8_t type, uint8_t dword);
  Reply Poll(uint8_t id) const;
  Result CarryOut(uint8_t type);
  Result Energy();
  Result Utilization();
  Result MemoryCapacity();

  Device& device_;
  Sensors& sensors_;
  PerformanceMonitor& monitor_;
  ScratchMemory& scratch_;
  uint8_t next_id_ = 1;
  std::deque<Ended> ended_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_ASYNC_REQUESTS_H_
