// SPDX-License-Identifier: Apache-2.0
//
// The memory shared by device and controller: four pages of 256 dwords. One page is selected for reads (source) and one
// for writes (destination). Opcodes 0x0D to 0x0F, and register 0, which selects the pages.
//   ScratchMemory scratch;
//   scratch.Write(/*dword=*/7, /*count_less_one=*/0, 0x12345678);
//   scratch.Read(7).data;
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_SCRATCH_MEMORY_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_SCRATCH_MEMORY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "secure_mcu/firmware/reply.h"

namespace sideband::mcu {

// Initially all zeros, with page 0 selected for both. Not thread-safe.
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
  // What a controller has left for the device in `count` dwords of the destination page, where results go, too: until
  // the next write. Empty if they exceed the page.
  std::span<const uint32_t> Parameters(uint8_t dword, size_t count) const;

 private:
  using Page = std::array<uint32_t, kPageDwords>;

  std::array<Page, kPages> pages_ = {};
  size_t destination_ = 0;
  size_t source_ = 0;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_SCRATCH_MEMORY_H_
