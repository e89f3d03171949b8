// SPDX-License-Identifier: Apache-2.0
//
// The interpreter's loop, for the timings of core.cc and machine.cc only. A timing has these functions:
//   struct SomeTiming {
//     bool Fetch(size_t index, uint64_t cycle);    // of instruction `index` of the memory; false: a miss, it waits
//     bool Load(uint64_t offset, uint64_t cycle);  // an aligned access; false: a miss, the next instruction waits
//     bool Store(uint64_t offset, uint64_t cycle);
//     void Ran(uint64_t begin, uint64_t end);      // an instruction was fetched and retired in each of these cycles
//     void Trapped(uint64_t cycle);                // an instruction was fetched, but not retired
//     void Interrupted();                          // an instruction that was fetched is not executed
//     bool TakesPort();                            // whether an access to the port has its turn now
//   };
//   template Pause Core::Advance(SomeTiming& timing, uint64_t end);
#ifndef SIDEBAND_SIM_RISCV_CORE_LOOP_H_
#define SIDEBAND_SIM_RISCV_CORE_LOOP_H_

#include <bit>
#include <cstddef>
#include <cstdint>

#include "sim/riscv/core.h"

namespace sideband::riscv {

// Executes instructions until one needs more than this loop does: it is then untouched. The instructions have no side
// effects but on registers and memory, and leave `this` alone, so that position and cycle stay in registers.
template <typename Timing>
Core::Stop Core::RunFast(Timing& timing, uint64_t end) {
  const Instruction* const code = code_.data();
  const uint64_t code_size = code_.size();
  const uint64_t base = memory_.base();
  const uint64_t memory_size = memory_.size();
  uint64_t* const x = registers_.data();
  uint64_t index = (pc_ - base) / 4;
  uint64_t cycle = cycle_;
  Stop stop = Stop::kEnd;
  const auto leave = [&](Stop why) {
    pc_ = base + 4 * index;
    cycle_ = cycle;
    return why;
  };
  // A misaligned offset has bits that the rotation moves to the top, so that one comparison finds both faults.
  const auto is_outside = [](uint64_t offset, uint64_t bytes, uint64_t limit) {
    return std::rotr(offset, std::countr_zero(bytes)) >= limit / bytes;
  };
  for (; cycle < end; ++cycle) {
    if (!timing.Fetch(index, cycle)) return leave(Stop::kMiss);
    const Instruction in = code[index];
    const uint64_t a = x[in.rs1];
    const uint64_t c = x[in.rs2];
    const uint64_t imm = static_cast<uint64_t>(int64_t{in.imm});
    const uint64_t b = c + imm;
    switch (in.op) {
#define SIDEBAND_RISCV_CASE(name, word, funct7, funct3, result) \
  case Op::name:                                                \
    x[in.rd] = (result);                                        \
    break;
      SIDEBAND_RISCV_COMPUTATIONS(SIDEBAND_RISCV_CASE)
#undef SIDEBAND_RISCV_CASE
#define SIDEBAND_RISCV_CASE(name, funct3, condition)                       \
  case Op::name:                                                           \
    if (condition) {                                                       \
      const uint64_t target = 4 * index + imm;                             \
      if (is_outside(target, 4, 4 * code_size)) return leave(Stop::kSlow); \
      index = target / 4;                                                  \
      continue;                                                            \
    }                                                                      \
    break;
      SIDEBAND_RISCV_BRANCHES(SIDEBAND_RISCV_CASE)
#undef SIDEBAND_RISCV_CASE
#define SIDEBAND_RISCV_CASE(name, funct3, type)                                       \
  case Op::name: {                                                                    \
    const uint64_t offset = a + imm - base;                                           \
    if (is_outside(offset, sizeof(type), memory_size)) return leave(Stop::kSlow);     \
    x[in.rd] = static_cast<uint64_t>(static_cast<int64_t>(memory_.At<type>(offset))); \
    if (!timing.Load(offset, cycle)) {                                                \
      stop = Stop::kMiss;                                                             \
      end = cycle + 1;                                                                \
    }                                                                                 \
    break;                                                                            \
  }
      SIDEBAND_RISCV_LOADS(SIDEBAND_RISCV_CASE)
#undef SIDEBAND_RISCV_CASE
#define SIDEBAND_RISCV_CASE(name, funct3, type)                                   \
  case Op::name: {                                                                \
    const uint64_t offset = a + imm - base;                                       \
    if (is_outside(offset, sizeof(type), memory_size)) return leave(Stop::kSlow); \
    memory_.Put(offset, static_cast<type>(c));                                    \
    if (!timing.Store(offset, cycle)) {                                           \
      stop = Stop::kMiss;                                                         \
      end = cycle + 1;                                                            \
    }                                                                             \
    break;                                                                        \
  }
      SIDEBAND_RISCV_STORES(SIDEBAND_RISCV_CASE)
#undef SIDEBAND_RISCV_CASE
      case Op::kAuipc:
        x[in.rd] = base + 4 * index + imm;
        break;
      case Op::kJal: {
        const uint64_t target = 4 * index + imm;
        if (is_outside(target, 4, 4 * code_size)) return leave(Stop::kSlow);
        x[in.rd] = base + 4 * index + 4;
        index = target / 4;
        continue;
      }
      case Op::kJalr: {
        const uint64_t target = ((a + imm) & ~uint64_t{1}) - base;
        if (is_outside(target, 4, 4 * code_size)) return leave(Stop::kSlow);
        x[in.rd] = base + 4 * index + 4;
        index = target / 4;
        continue;
      }
      default:
        return leave(Stop::kSlow);
    }
    ++index;
  }
  return leave(stop);
}

template <typename Timing>
Pause Core::Advance(Timing& timing, uint64_t end) {
  while (MayContinue()) {
    if (cycle_ >= end) return Pause::kEnd;
    if (TakeInterrupt()) {
      timing.Interrupted();
      continue;
    }
    if (!memory_.Contains(pc_, 4)) {
      Trap(kCauseFetchAccess, pc_);
      continue;
    }
    const uint64_t begin = cycle_;
    const Stop stop = RunFast(timing, UninterruptedEnd(end));
    instructions_ += cycle_ - begin;
    timing.Ran(begin, cycle_);
    if (stop == Stop::kMiss) return Pause::kMiss;
    if (stop == Stop::kEnd || !memory_.Contains(pc_, 4)) continue;

    const size_t index = (pc_ - memory_.base()) / 4;
    const Instruction instruction = code_.data()[index];
    if (instruction.op == Op::kUndecoded) {
      code_.DecodeAt(index);
      continue;
    }
    if (IsPortAccess(instruction) && !timing.TakesPort()) return Pause::kPort;
    const uint64_t cycle = cycle_;
    if (Step(instruction)) {
      timing.Ran(cycle, cycle + 1);
    } else {
      timing.Trapped(cycle);
    }
  }
  return Pause::kHalted;
}

}  // namespace sideband::riscv

#endif  // SIDEBAND_SIM_RISCV_CORE_LOOP_H_
