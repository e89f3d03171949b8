// SPDX-License-Identifier: Apache-2.0
#include "sim/riscv/system_calls.h"

namespace sideband::riscv {
namespace {

// The numbers of riscv64, include/uapi/asm-generic/unistd.h.
constexpr uint64_t kWrite = 64;
constexpr uint64_t kExit = 93;

// Errors are returned as their negatives, include/uapi/asm-generic/errno-base.h and errno.h.
constexpr uint64_t Error(int number) { return static_cast<uint64_t>(int64_t{-number}); }
constexpr uint64_t kBadDescriptor = Error(9);
constexpr uint64_t kFault = Error(14);
constexpr uint64_t kNoSpace = Error(28);
constexpr uint64_t kNoSystemCall = Error(38);

}  // namespace

uint64_t LinuxCalls::Write(uint64_t descriptor, uint64_t address, uint64_t size, const Memory& memory) {
  if (descriptor != 1 && descriptor != 2) return kBadDescriptor;
  if (!memory.Contains(address, size)) return kFault;
  if (size > kOutputMax - output_.size()) return kNoSpace;
  for (uint64_t i = 0; i < size; ++i) output_.push_back(memory.At<char>(address - memory.base() + i));
  return size;
}

Environment::Result LinuxCalls::Call(uint64_t number, std::span<const uint64_t, 6> arguments, Memory& memory) {
  switch (number) {
    case kWrite:
      return {.a0 = Write(arguments[0], arguments[1], arguments[2], memory)};
    case kExit:
      return {.exit_code = static_cast<uint8_t>(arguments[0])};
    default:
      return {.a0 = kNoSystemCall};
  }
}

}  // namespace sideband::riscv
