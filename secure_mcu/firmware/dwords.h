// SPDX-License-Identifier: Apache-2.0
//
// Texts and numbers in SMBPBI's representation: four bytes at a time, least significant first.
//   DwordOf(PaddedText("1.0.0", 14), 1);     // "0\0\0\0"
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_DWORDS_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_DWORDS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "proto/base/bytes.h"

namespace sideband::mcu {

// `text`, truncated or zero-padded to `size` bytes.
inline Bytes PaddedText(const std::string& text, size_t size) {
  Bytes bytes(size);
  std::copy_n(text.begin(), std::min(size, text.size()), bytes.begin());
  return bytes;
}

// The four bytes from 4 · index on; bytes beyond the last are 0.
inline uint32_t DwordOf(ByteSpan bytes, size_t index) {
  uint32_t dword = 0;
  const size_t begin = 4 * index;
  for (size_t i = begin; i < std::min(begin + 4, bytes.size()); ++i) dword |= uint32_t{bytes[i]} << 8 * (i - begin);
  return dword;
}

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_DWORDS_H_
