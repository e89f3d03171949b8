// SPDX-License-Identifier: Apache-2.0
#include "sim/riscv/memory.h"

namespace sideband::riscv {

bool Memory::Write(uint64_t address, std::span<const uint32_t> words) {
  if (!Contains(address, words.size_bytes())) return false;
  if (!words.empty()) std::memcpy(bytes_.data() + (address - base_), words.data(), words.size_bytes());
  return true;
}

}  // namespace sideband::riscv
