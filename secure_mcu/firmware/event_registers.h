// SPDX-License-Identifier: Apache-2.0
//
// The events that the device reports to its controller, and REGISTER_ACCESS (opcode 0x11), which reads, clears and
// masks them and selects the pages of the scratch memory.
//   EventRegisters registers(scratch);
//   registers.Access(/*arg1: write*/ 0, /*arg2: mask*/ 2, 0x001);
//   registers.AnyPending();      // bit 30 of a status word
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_EVENT_REGISTERS_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_EVENT_REGISTERS_H_

#include <cstdint>

#include "secure_mcu/firmware/reply.h"
#include "secure_mcu/firmware/scratch_memory.h"

namespace sideband::mcu {

// Not thread-safe.
class EventRegisters {
 public:
  // Bits of the pending events and of the mask.
  static constexpr uint32_t kServerRestartCold = 1 << 0;
  static constexpr uint32_t kEverything = 0x3FF;

  // `scratch` must outlive the object. Initially the cold start is pending and no event is enabled.
  explicit EventRegisters(ScratchMemory& scratch) : scratch_(scratch) {}

  // arg1: 0 writes `data`, 1 reads. arg2 selects the register: 0 the scratch pages; 1 the pending events, where a write
  // clears the events whose bits are 0 and raises none; 2 the mask, in which a 1 enables an event. ERR_DATA for a page
  // or a mask bit that does not exist. Undefined bits in a write of the pending events are ignored, so a client can
  // clear one event by writing the inverse of its bit.
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
