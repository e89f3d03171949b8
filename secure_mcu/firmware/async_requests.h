// SPDX-License-Identifier: Apache-2.0
//
// ASYNC_REQUEST (opcode 0x10): requests whose results do not fit into a register and are written to the scratch memory.
//   AsyncRequests requests(device, sensors, monitor, scratch, limits);
//   const Reply accepted = requests.Execute(/*energy*/ 0x08, /*dword*/ 4);
//   requests.Execute(/*poll*/ 0xFF, accepted.data).data;        // AsyncStatus
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_ASYNC_REQUESTS_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_ASYNC_REQUESTS_H_

#include <cstdint>
#include <deque>

#include "proto/mailbox/async_request.h"
#include "secure_mcu/firmware/async_result.h"
#include "secure_mcu/firmware/device.h"
#include "secure_mcu/firmware/limit_requests.h"
#include "secure_mcu/firmware/performance_monitor.h"
#include "secure_mcu/firmware/reply.h"
#include "secure_mcu/firmware/scratch_memory.h"
#include "secure_mcu/firmware/sensors.h"

namespace sideband::mcu {

// Every request is accepted and executed at once; a poll returns its final status. The statuses of the last kRemembered
// requests are kept; polling any other id is ERR_ARG2. Results are written to the scratch memory's destination page.
// Not thread-safe.
class AsyncRequests {
 public:
  static constexpr size_t kRemembered = 16;

  // All arguments must outlive the object.
  AsyncRequests(Device& device, Sensors& sensors, PerformanceMonitor& monitor, ScratchMemory& scratch,
                LimitRequests& limits)
      : device_(device), sensors_(sensors), monitor_(monitor), scratch_(scratch), limits_(limits) {}

  // `type` is an AsyncType. `arg2` is the first dword of parameters and result, or for a poll the id of the request.
  Reply Execute(uint8_t type, uint8_t arg2);

  // Whether the device provides the data for utilisation or memory capacity.
  bool HasUtilization() const;
  bool HasMemoryCapacity() const { return device_.GetMemoryUse().has_value(); }

 private:
  struct Ended {
    uint8_t id;
    mailbox::AsyncStatus status;
  };

  Reply Submit(uint8_t type, uint8_t dword);
  Reply Poll(uint8_t id) const;
  AsyncResult CarryOut(uint8_t type, uint8_t dword);
  AsyncResult Energy();
  AsyncResult Utilization();
  AsyncResult MemoryCapacity();

  Device& device_;
  Sensors& sensors_;
  PerformanceMonitor& monitor_;
  ScratchMemory& scratch_;
  LimitRequests& limits_;
  uint8_t next_id_ = 1;
  std::deque<Ended> ended_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_ASYNC_REQUESTS_H_
