// SPDX-License-Identifier: Apache-2.0
//
// What carries out the system calls of a user program.
//   class Silence final : public Environment {
//     Result Call(uint64_t, std::span<const uint64_t, 6>, Memory&) override { return {.a0 = 0, .exit_code = 0}; }
//   };
#ifndef SIDEBAND_SIM_RISCV_ENVIRONMENT_H_
#define SIDEBAND_SIM_RISCV_ENVIRONMENT_H_

#include <cstdint>
#include <optional>
#include <span>

#include "sim/riscv/memory.h"

namespace sideband::riscv {

class Environment {
 public:
  struct Result {
    uint64_t a0 = 0;
    std::optional<uint8_t> exit_code;  // the program ends
  };

  virtual ~Environment() = default;
  // An ecall with a7 = `number` and a0 to a5 = `arguments`, all of which the program chose.
  virtual Result Call(uint64_t number, std::span<const uint64_t, 6> arguments, Memory& memory) = 0;
};

}  // namespace sideband::riscv

#endif  // SIDEBAND_SIM_RISCV_ENVIRONMENT_H_
