// SPDX-License-Identifier: Apache-2.0
//
// The asynchronous requests about what limits a board: power of board and module, clock, fans, and for how long the
// clock was lowered.
//   LimitRequests limits(device, spec, state, scratch);
//   limits.CarryOut(mailbox::AsyncType::kPowerLimitInfo, /*dword=*/0).dwords;      // least, most, default: mW
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_LIMIT_REQUESTS_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_LIMIT_REQUESTS_H_

#include <cstdint>
#include <optional>

#include "proto/mailbox/async_request.h"
#include "proto/mailbox/board_items.h"
#include "secure_mcu/board/board_spec.h"
#include "secure_mcu/board/board_state.h"
#include "secure_mcu/firmware/async_result.h"
#include "secure_mcu/firmware/complement.h"
#include "secure_mcu/firmware/device.h"
#include "secure_mcu/firmware/scratch_memory.h"

namespace sideband::mcu {

// A request whose part of the board is not configured is kNotSupported: limits of the power need
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
  // and
  //   what it does not name is 0. kNotReady where the clock is hidden (hidden_clock.h).
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

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_LIMIT_REQUESTS_H_
