// SPDX-License-Identifier: Apache-2.0
//
// The events that the device tells its controller of, and REGISTER_ACCESS (opcode 0x11), which shows and masks them and
// selects the pages of the scratch memory.
//   EventRegisters registers(scratch);
//   registers.Access(/*arg1: write*/ 0, /*arg2: mask*/ 2, 0x001);
//   registers.AnyPending();      // what bit 30 of a status word says
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_EVENT_REGISTERS_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_EVENT_REGISTERS_H_

#include <cstdint>

#include "secure_mcu/firmware/reply.h"
#include "secure_mcu/firmware/scratch_memory.h"

namespace sideband::mcu {

// Not thread-safe.
class EventRegisters {
 public:
  // Bits of both registers.
  static constexpr uint32_t kServerRestartCold = 1 << 0;
  static constexpr uint32_t kEverything = 0x3FF;

  // `scratch` must outlive it. The cold start is pending, and nothing is enabled.
  explicit EventRegisters(ScratchMemory& scratch) : scratch_(scratch) {}

  // arg1: 0 writes `data`, 1 reads. arg2: 0 the scratch pages; 1 the pending events, where a write clears those whose
  // bits are 0 and raises none; 2 the mask, in which a 1 enables an event. ERR_DATA for a page or an event that there
  // is not; what is beyond the pending events is ignored, so that all but one can be kept with the inverse of its bit.
  Reply Access(uint8_t arg1, uint8_t arg2, uint32_t data);

  bool AnyPending() const { return (pending_ & mask_) != 0; }

 private:
  Reply Write(uint8_t index, uint32_t data);
  Reply Read(uint8_t index) const;

  ScratchMemory& scratch_;
  uint32_t pending_ = kServerRestartCold;
  uint32_t mask_ = 0;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_EVENT_REGISTERS_H_
