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
#include <optional>
#include <vector>

#include "proto/mailbox/board_items.h"
#include "proto/mailbox/services.h"
#include "secure_mcu/firmware/board_state.h"
#include "secure_mcu/firmware/board_unit.h"
#include "secure_mcu/firmware/command_handler.h"
#include "secure_mcu/firmware/complement.h"
#include "secure_mcu/firmware/device.h"
#include "secure_mcu/firmware/performance_monitor.h"
#include "secure_mcu/firmware/scratch_memory.h"

namespace sideband::mcu {

// The end of an asynchronous request: its final status, and the dwords that go to scratch memory.
struct AsyncResult {
  mailbox::AsyncStatus status = mailbox::AsyncStatus::kSuccess;
  std::vector<uint32_t> dwords = {};  // none of a request that failed
};

// The requests about what limits a board: power of board and module, clock, fans, and for how long the clock was
// lowered. A request whose part of the board is not configured is kNotSupported: limits of the power need
// BoardSpec::power_limit, those of the module module_overhead_mw, too; clock limits and violations need a clock that
// can be lowered; the number of fans needs BoardSpec::thermal. Not thread-safe.
class LimitRequests {
 public:
  // All must outlive it.
  LimitRequests(const Device& device, const BoardSpec& spec, BoardState& state, const ScratchMemory& scratch,
                Complement clocks = Complement::kExclude)
      : device_(device), spec_(spec), state_(state), scratch_(scratch), clocks_(clocks) {}

  // The parameters begin at this dword of the destination page. The results are those of AsyncType:
  // * kGetPowerLimit, kGetModuleLimit: no flags, for no limit outlasts the emulator.
  // * kSetPowerLimit, kSetModuleLimit: no result. kLimitPersists has no effect; kLimitClears removes the limit whatever
  //   is asked for. kInvalidArgument for an undefined flag, kInvalidLimit for a limit that is out of range,
  //   kInvalidOffset for parameters that exceed the page; each of them changes nothing.
  // * kFanCount: 0, a passive board.
  // * kViolations: milliseconds since the start. The mask is a parameter, too: bits without a Violation are ignored,
  //   and what it does not name is 0. kNotReady where the clock is hidden (system_info.h).
  // * kGetClockLimit: nothing is asked for; in force are the least and most level.
  // kNotSupported for the types of other classes.
  AsyncResult CarryOut(mailbox::AsyncType type, uint8_t dword);

 private:
  AsyncResult SetLimit(const std::optional<PowerLimits>& limits, PowerLimitState& state, mailbox::BoardEvent event,
                       uint8_t dword);
  AsyncResult FanCount() const;
  AsyncResult Violations(uint8_t dword) const;
  AsyncResult ClockLimit() const;

  const Device& device_;
  const BoardSpec& spec_;
  BoardState& state_;
  const ScratchMemory& scratch_;
  const Complement clocks_;
};

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
