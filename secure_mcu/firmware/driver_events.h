// SPDX-License-Identifier: Apache-2.0
//
// GET_DRIVER_EVENT_MSG (opcode 0x1D): the driver's messages, record by record, in scratch memory.
//   DriverEvents events(scratch, state.driver);
//   const Reply reply = events.Get(/*oldest*/ 0, /*dword=*/16, 0);      // the record's bytes are in its data
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_DRIVER_EVENTS_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_DRIVER_EVENTS_H_

#include <cstdint>
#include <optional>

#include "proto/mailbox/driver_event.h"
#include "secure_mcu/board/driver_messages.h"
#include "secure_mcu/firmware/reply.h"
#include "secure_mcu/firmware/scratch_memory.h"

namespace sideband::mcu {

// All controllers read one queue: what one has removed, the others do not see. Not thread-safe.
class DriverEvents {
 public:
  // Both must outlive it.
  DriverEvents(ScratchMemory& scratch, DriverMessages& messages) : scratch_(scratch), messages_(messages) {}

  // `step` is a DriverEventStep; `data` is the sequence number or the time for which it asks. Writes the record, as
  // mailbox::DriverEvent encodes it, to the destination page from `dword` on, and returns its number of bytes. The
  // oldest record is then removed; the others stay. ERR_NOT_AVAILABLE if there is none; ERR_ARG2 if the record exceeds
  // the page, in which case it stays.
  Reply Get(uint8_t step, uint8_t dword, uint32_t data);

 private:
  std::optional<mailbox::DriverEvent> Find(mailbox::DriverEventStep step, uint32_t data) const;

  ScratchMemory& scratch_;
  DriverMessages& messages_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_DRIVER_EVENTS_H_
