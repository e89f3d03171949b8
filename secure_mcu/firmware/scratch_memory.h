// SPDX-License-Identifier: Apache-2.0
//
// The memory that device and controller share: four pages of 256 dwords, of which one is read from and one written to.
// Opcodes 0x0D to 0x0F, and register 0, which selects the two pages.
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

// All zeros at the start; both pages are then page 0. Not thread-safe.
class ScratchMemory {
 public:
  static constexpr size_t kPages = 4;
  static constexpr size_t kPageDwords = 256;

  // From the source page.
  Reply Read(uint8_t dword) const;
  // To the destination page: `value` into so many dwords and one. ERR_ARG2 beyond the page.
  Reply Write(uint8_t dword, uint8_t count_less_one, uint32_t value);
  // From the source page, beginning at the dword `from`, to the destination page; the ranges may overlap. ERR_ARG2
  // beyond the destination's end, ERR_DATA where `from` is no dword or the source's end is passed.
  Reply Copy(uint8_t dword, uint8_t count_less_one, uint32_t from);

  // Register 0: destination page 7:0, source page 15:8.
  uint32_t pages() const { return static_cast<uint32_t>(destination_ | source_ << 8); }
  // False, and nothing changes, where one of them is no page.
  bool SelectPages(uint32_t pages);

  // The device's own writes, to the destination page; false where they do not fit.
  bool Put(uint8_t dword, std::span<const uint32_t> values);

 private:
  using Page = std::array<uint32_t, kPageDwords>;

  std::array<Page, kPages> pages_ = {};
  size_t destination_ = 0;
  size_t source_ = 0;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_SCRATCH_MEMORY_H_
