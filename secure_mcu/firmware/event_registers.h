// SPDX-License-Identifier: Apache-2.0
//
// The events that the device reports to its controller, and REGISTER_ACCESS (opcode 0x11), which reads, clears and
// masks them and selects the pages of the scratch memory.
//   EventRegisters registers(scratch, state);
//   registers.Access(/*arg1: write*/ 0, /*arg2: mask*/ 2, 0x001);
//   registers.AnyPending();      // bit 30 of a status word
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_EVENT_REGISTERS_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_EVENT_REGISTERS_H_

#include <cstdint>
#include <iterator>

#include "proto/mailbox/board_items.h"
#include "secure_mcu/board/board_state.h"
#include "secure_mcu/firmware/reply.h"
#include "secure_mcu/firmware/scratch_memory.h"

namespace sideband::mcu {

// Not thread-safe.
class EventRegisters {
 public:
  // Bits of the mask: a bit for each BoardEvent.
  static constexpr uint32_t kEverything = (uint32_t{1} << std::size(mailbox::kBoardEvents)) - 1;

  // Both must outlive the object. Initially the cold start is pending and no event is enabled. An event that the board
  // raises from now on is pending until it is cleared here: each object has pending bits of its own.
  EventRegisters(ScratchMemory& scratch, const BoardState& board)
      : scratch_(scratch), board_(board), followed_(board.raised) {}

  // arg1: 0 writes `data`, 1 reads. arg2 selects the register: 0 the scratch pages; 1 the pending events, where a write
  // clears the events whose bits are 0 and raises none; 2 the mask, in which a 1 enables an event. ERR_DATA for a page
  // or a mask bit that does not exist. Undefined bits in a write of the pending events are ignored, so a client can
  // clear one event by writing the inverse of its bit.
  Reply Access(uint8_t arg1, uint8_t arg2, uint32_t data);

  bool AnyPending() const { return (Pending() & mask_) != 0; }

 private:
  Reply Write(uint8_t index, uint32_t data);
  Reply Read(uint8_t index) const;
  // What is left of earlier events, and what the board has raised since they were last cleared.
  uint32_t Pending() const;

  ScratchMemory& scratch_;
  const BoardState& board_;
  decltype(BoardState::raised) followed_;  // as of the last clearing
  uint32_t pending_ = MaskOf(mailbox::BoardEvent::kColdRestart);
  uint32_t mask_ = 0;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_EVENT_REGISTERS_H_
