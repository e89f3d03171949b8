// SPDX-License-Identifier: Apache-2.0
//
// The two system calls of Linux that a kernel of this repository makes: it writes its checksum and exits.
//   LinuxCalls calls;
//   Core core(memory, {.environment = &calls});
//   core.Run(1'000'000);
//   std::puts(calls.output().c_str());
#ifndef SIDEBAND_SIM_RISCV_LINUX_CALLS_H_
#define SIDEBAND_SIM_RISCV_LINUX_CALLS_H_

#include <cstddef>
#include <string>

#include "sim/riscv/environment.h"

namespace sideband::riscv {

// 64, write: to descriptor 1 or 2, else EBADF; EFAULT for bytes outside the memory. 93, exit. All others: ENOSYS.
// Not thread-safe.
class LinuxCalls final : public Environment {
 public:
  // What a program writes beyond this is refused with ENOSPC.
  static constexpr size_t kOutputMax = size_t{1} << 16;

  Result Call(uint64_t number, std::span<const uint64_t, 6> arguments, Memory& memory) override;

  // What the program has written.
  const std::string& output() const { return output_; }

 private:
  uint64_t Write(uint64_t descriptor, uint64_t address, uint64_t size, const Memory& memory);

  std::string output_;
};

}  // namespace sideband::riscv

#endif  // SIDEBAND_SIM_RISCV_LINUX_CALLS_H_
