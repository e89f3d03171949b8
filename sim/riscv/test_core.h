// SPDX-License-Identifier: Apache-2.0
//
// A core with 64 KiB of memory, for tests: words at its start, then as many steps as the test wants.
//   TestCore test({as::Addi(5, 0, 1), as::kEbreak});
//   test.Step(2);
//   EXPECT_EQ(test.core().x(5), 1u);
#ifndef SIDEBAND_SIM_RISCV_TEST_CORE_H_
#define SIDEBAND_SIM_RISCV_TEST_CORE_H_

#include <cstdint>
#include <vector>

#include "sim/riscv/core.h"
#include "sim/riscv/memory.h"

namespace sideband::riscv {

inline constexpr uint64_t kTestBase = 0x10000;
inline constexpr uint64_t kTestBytes = 0x10000;
inline constexpr uint64_t kTestEnd = kTestBase + kTestBytes;

class TestCore {
 public:
  explicit TestCore(const std::vector<uint32_t>& words, const Core::Options& options = {})
      : memory_(kTestBase, kTestBytes), core_(memory_, options) {
    memory_.Write(kTestBase, words);
  }

  // Runs for as many cycles, without caches the same number of instructions, traps and interrupts.
  void Step(uint64_t steps = 1) { core_.Run(core_.cycle() + steps); }

  Core& core() { return core_; }
  Memory& memory() { return memory_; }
  // The instructions executed so far, if none has jumped.
  uint64_t words_passed() const { return (core_.pc() - kTestBase) / 4; }

 private:
  Memory memory_;
  Core core_;
};

}  // namespace sideband::riscv

#endif  // SIDEBAND_SIM_RISCV_TEST_CORE_H_
