// SPDX-License-Identifier: Apache-2.0
//
// The memory shared by device and controller, and what comes through it: the registers that select its pages and hold
// the pending events, the driver's messages, and bundles of requests.
//   ScratchMemory scratch;
//   scratch.Write(/*dword=*/7, /*count_less_one=*/0, 0x12345678);
//   scratch.Read(7).data;
//
//   Bundles bundles(scratch, [&](const mailbox::CommandWord& word, uint32_t data) { return Execute(word, data); });
//   const Reply reply = bundles.Launch(/*2 requests, 1 rule*/ 0x12, /*dword=*/0);
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_SCRATCH_MEMORY_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_SCRATCH_MEMORY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "proto/mailbox/board_items.h"
#include "proto/mailbox/services.h"
#include "proto/mailbox/word.h"
#include "secure_mcu/firmware/board_state.h"
#include "secure_mcu/firmware/command_handler.h"

namespace sideband::mcu {

// Four pages of 256 dwords. One page is selected for reads (source) and one for writes (destination), by register 0.
// Opcodes 0x0D to 0x0F. Initially all zeros, with page 0 selected for both. Not thread-safe.
class ScratchMemory {
 public:
  static constexpr size_t kPages = 4;
  static constexpr size_t kPageDwords = 256;

  // Reads from the source page.
  Reply Read(uint8_t dword) const;
  // Writes `value` to count_less_one + 1 dwords of the destination page. ERR_ARG2 beyond the page.
  Reply Write(uint8_t dword, uint8_t count_less_one, uint32_t value);
  // Copies count_less_one + 1 dwords from dword `from` of the source page to the destination page; the ranges may
  // overlap. ERR_ARG2 beyond the destination's end; ERR_DATA if `from` is not a dword of the page or the range exceeds
  // the source's end.
  Reply Copy(uint8_t dword, uint8_t count_less_one, uint32_t from);

  // Register 0: destination page 7:0, source page 15:8.
  uint32_t pages() const { return static_cast<uint32_t>(destination_ | source_ << 8); }
  // Returns false and changes nothing if one of the pages does not exist.
  bool SelectPages(uint32_t pages);

  // Writes results of the device to the destination page; false if they do not fit.
  bool Put(uint8_t dword, std::span<const uint32_t> values);
  // The `count` dwords that a controller has left for the device, from `dword` of the destination page on, where
  // results go, too: until the next write. Empty if they exceed the page.
  std::span<const uint32_t> Parameters(uint8_t dword, size_t count) const;

 private:
  using Page = std::array<uint32_t, kPageDwords>;

  std::array<Page, kPages> pages_ = {};
  size_t destination_ = 0;
  size_t source_ = 0;
};

// The events that the device reports to its controller, and REGISTER_ACCESS (opcode 0x11), which reads, clears and
// masks them and selects the pages of the scratch memory. Not thread-safe.
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
  // The rest of earlier events, and those that the board has raised since they were last cleared.
  uint32_t Pending() const;

  ScratchMemory& scratch_;
  const BoardState& board_;
  decltype(BoardState::raised) followed_;  // as of the last clearing
  uint32_t pending_ = MaskOf(mailbox::BoardEvent::kColdRestart);
  uint32_t mask_ = 0;
};

// GET_DRIVER_EVENT_MSG (opcode 0x1D): the driver's messages, record by record, in scratch memory. All
// controllers read one queue: what one has removed, the others do not see. Not thread-safe.
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

// BUNDLE_LAUNCH (opcode 0x1C): executes several requests that a controller has laid out in scratch memory, and packs
// parts of their results into one reply. The layout is that of proto/mailbox/services.h. A bundle is judged as a whole
// before the first of its requests is executed. Not thread-safe.
class Bundles {
 public:
  using Executor = std::function<Reply(const mailbox::CommandWord& command, uint32_t data)>;

  // `scratch` must outlive it.
  Bundles(ScratchMemory& scratch, Executor execute) : scratch_(scratch), execute_(std::move(execute)) {}

  // `counts`: requests 3:0, 1 to 4, and rules 7:4, at most 10; `dword` is where they begin in the destination page.
  // Writes to each request its status word, as register 5C would have it without EVENT_PENDING, its data and its
  // extended data. The rules are then applied in order, to failed requests, too: what none of them writes is 0, or in
  // the status word the echo. PARTIAL_FAILURE if a request failed; those after a failed one with kBundleStops are not
  // executed: their status is NULL.
  // Nothing is executed or written for ERR_ARG1, a wrong count; ERR_ARG2, a bundle that exceeds the page; and
  // ERR_DISPOSITION, a rule of a request or a field that does not exist, of bits beyond a register (of the reply's
  // status word 23:0), or with undefined bits.
  // A request that is a bundle, writes scratch memory or selects its pages fails with ERR_REQUEST: a bundle does not
  // recur, and its own dwords stay in place.
  Reply Launch(uint8_t counts, uint8_t dword);

 private:
  // False if one of them failed.
  bool ExecuteAll(std::span<uint32_t> entries) const;
  Reply ExecuteOne(const mailbox::CommandWord& command, uint32_t data) const;

  ScratchMemory& scratch_;
  const Executor execute_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_SCRATCH_MEMORY_H_
