// SPDX-License-Identifier: Apache-2.0
//
// Errors of a board's memories: GET_ECC in its five generations (opcodes 0x07, 0x0C, 0x14, 0x16, 0x1E),
// REMAP_ROW_STATS (0x20) and GET_PAGE_RETIREMENT_STATS (0x13).
//   MemoryErrors errors(board.spec, board.state);
//   const uint32_t corrected = errors.GetEcc(EccGeneration::kV6, /*corrected*/ 0, /*DRAM*/ 1).data;
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_MEMORY_ERRORS_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_MEMORY_ERRORS_H_

#include <cstdint>

#include "secure_mcu/firmware/board_spec.h"
#include "secure_mcu/firmware/board_state.h"
#include "secure_mcu/firmware/command_handler.h"

namespace sideband::mcu {

// A command that the board lacks is ERR_NOT_SUPPORTED with any arguments. The arguments are those of
// proto/mailbox/memory_links.h. Not thread-safe.
class MemoryErrors {
 public:
  // Both must outlive it.
  MemoryErrors(const BoardSpec& spec, const BoardState& state) : spec_(spec), state_(state) {}

  // A board has one generation, BoardSpec::ecc.
  //   V2 to V4: the frame buffer's errors are those of DRAM, the graphics engine's those of SRAM. Source 0 and arg2 0
  //     have them; other sources, partitions, slices, GPCs and TPCs have none. Their fields fill arg2, so each arg2 is
  //     valid. ERR_NOT_SUPPORTED for addresses.
  //   V5: index 0 is DRAM, 1 is SRAM; types 2 to 4 are 0. ERR_NOT_SUPPORTED for the buffer's 16 entries.
  //   V6: errors, or flags.
  Reply GetEcc(EccGeneration generation, uint8_t arg1, uint8_t arg2) const;

  // Both counts in one dword, each at most mailbox::kRemapCountMax and with a flag if there were more; one count as it
  // is; flags; or the histogram, whose banks without spare rows are in the reply's word.
  Reply GetRowRemap(uint8_t arg1, uint8_t arg2) const;

  // `arg1` must be 0.
  Reply GetRetiredPages(uint8_t arg1) const;

 private:
  Reply OfUnit(uint8_t arg1, uint8_t arg2) const;    // V2 to V4
  Reply OfIndex(uint8_t arg1, uint8_t arg2) const;   // V5
  Reply OfMemory(uint8_t arg1, uint8_t arg2) const;  // V6
  Reply RemapCounts(uint8_t arg2) const;

  const BoardSpec& spec_;
  const BoardState& state_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_MEMORY_ERRORS_H_
