// SPDX-License-Identifier: Apache-2.0
//
// The instructions of a memory, decoded once each, found by their address without a search.
//   CodeCache code(memory);
//   code.DecodeAt(0);              // the word at memory.base()
//   const Op op = code.data()[0].op;
//   code.Clear();                  // fence.i
// A store to an instruction that was decoded is seen after Clear, as the architecture has it (Zifencei).
#ifndef SIDEBAND_SIM_RISCV_CODE_CACHE_H_
#define SIDEBAND_SIM_RISCV_CODE_CACHE_H_

#include <cstddef>

#include "sim/riscv/instruction.h"
#include "sim/riscv/memory.h"
#include "sim/riscv/zeroed_array.h"

namespace sideband::riscv {

// Takes twice the memory of the code that was decoded. The memory must outlive this object. Not thread-safe.
class CodeCache {
 public:
  explicit CodeCache(const Memory& memory) : memory_(memory), instructions_(memory.size() / 4 + 1) {}

  // Instruction i is the word at base + 4 i; Op::kUndecoded until DecodeAt(i). After the last one is another that is
  // never decoded, where a program that runs off the memory's end stops.
  const Instruction* data() const { return instructions_.data(); }
  size_t size() const { return instructions_.size() - 1; }

  // `index` must be below size().
  void DecodeAt(size_t index);
  void Clear();

 private:
  const Memory& memory_;
  ZeroedArray<Instruction> instructions_;
  // All decoded instructions are in [begin_, end_).
  size_t begin_ = 0;
  size_t end_ = 0;
};

}  // namespace sideband::riscv

#endif  // SIDEBAND_SIM_RISCV_CODE_CACHE_H_
