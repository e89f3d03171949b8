// SPDX-License-Identifier: Apache-2.0
//
// A RISC-V core in order: RV64IM with Zicsr and Zifencei, machine and user level.
//   Memory memory(0x10000, 1 << 20);
//   memory.Write(0x10000, program.words);
//   Core core(memory, {.environment = &calls});
//   core.Run(1'000'000);                          // at one instruction a cycle, without caches
//   if (core.halt()) std::puts("ended");
//
// Choices that the architecture leaves open: a misaligned load, store or jump raises its exception, and nothing of it
// happens. Without physical memory protection users may access all of the memory; no word outside of it can be
// accessed. mtval is the word of an illegal instruction, the address of a memory exception, the pc of a breakpoint,
// else 0. wfi has no effect, so a program waits in a loop. ecall, ebreak and other instructions that raise an exception
// take a cycle and are not retired; to take an interrupt takes a cycle, too. The timer interrupt is pending while the
// cycle is at or after CSR mtimecmp (csr.h), since there is no device memory. Source: The RISC-V Instruction Set
// Manual, volume I, version 20191213; volume II, version 20190608.
#ifndef SIDEBAND_SIM_RISCV_CORE_H_
#define SIDEBAND_SIM_RISCV_CORE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "sim/riscv/csr.h"
#include "sim/riscv/instruction.h"
#include "sim/riscv/program.h"

namespace sideband::riscv {

// The instructions of a memory, decoded once each, found by their address without a search.
// A store to an instruction that was decoded is seen after Clear, as the architecture has it (Zifencei).
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

// A core's control and status registers of machine and user level, and what a trap does to them. Not thread-safe.
class CsrFile {
 public:
  static constexpr uint64_t kNever = ~uint64_t{0};

  // The core's cycles and instructions before the instruction that accesses a register.
  struct Progress {
    uint64_t cycle;
    uint64_t instructions;
  };

  // At machine level, with all counters readable by users; everything else is 0.
  explicit CsrFile(uint64_t hart) : hart_(hart) {}

  Privilege level() const { return level_; }
  void set_level(Privilege level) { level_ = level; }

  // nullopt or false, without an effect: the register does not exist, or the level has no access to it. Values that a
  // field cannot have leave it as it is; reserved fields read 0. mexit and the registers of a CsrPort are not here.
  std::optional<uint64_t> Read(uint16_t csr, Progress now) const;
  bool Write(uint16_t csr, uint64_t value, Progress now);
  // Whether the present level may read the register, or write it if `write`.
  bool Permits(uint16_t csr, bool write) const;

  // Enters a trap from `pc`; `value` becomes mtval. Returns the address of the handler.
  uint64_t EnterTrap(uint64_t cause, uint64_t value, uint64_t pc);
  // mret. Returns the address at which the program continues.
  uint64_t Return();
  // The first cycle in which the timer interrupt is taken at the present level and settings; kNever if it is not.
  uint64_t InterruptCycle() const;

 private:
  bool PermitsCounter(uint16_t csr) const;
  std::optional<uint64_t> ReadCounter(uint16_t csr, Progress now) const;
  void WriteStatus(uint64_t value);
  bool WriteCounter(uint16_t csr, uint64_t value, Progress now);

  const uint64_t hart_;
  Privilege level_ = Privilege::kMachine;

  // mstatus
  bool interrupts_enabled_ = false;        // MIE
  bool previous_enabled_ = false;          // MPIE
  Privilege previous_ = Privilege::kUser;  // MPP

  uint64_t enabled_ = 0;           // mie
  uint64_t vector_ = 0;            // mtvec
  uint64_t counters_enabled_ = 7;  // mcounteren
  uint64_t scratch_ = 0;
  uint64_t exception_pc_ = 0;
  uint64_t cause_ = 0;
  uint64_t trap_value_ = 0;
  uint64_t time_compare_ = kNever;

  // The amounts by which mcycle and minstret are ahead of the core's own numbers, modulo 2^64.
  uint64_t cycle_offset_ = 0;
  uint64_t instructions_offset_ = 0;
};

// Why a core has stopped for good.
struct Halt {
  enum class Reason {
    kExited,        // `value` is the exit code
    kFault,         // a user program's exception: `value` is the cause, `address` the pc
    kInstructions,  // instructions_max have been retired
  };
  Reason reason = Reason::kExited;
  uint64_t value = 0;
  uint64_t address = 0;

  bool operator==(const Halt&) const = default;
};

// Why Advance has returned.
enum class Pause {
  kEnd,     // the cycle `end` has been reached
  kMiss,    // the timing has to say in which cycle the core continues: StallUntil
  kPort,    // the next instruction accesses the port, and waits for its turn
  kHalted,  // see halt()
};

// Not thread-safe.
class Core {
 public:
  struct Options {
    uint64_t hart = 0;           // CSR mhartid
    std::optional<uint64_t> pc;  // of the first instruction; default: the memory's base
    // Serves the registers hpcc, hpcm and hpcr, which without a port do not exist.
    CsrPort* port = nullptr;
    // With an environment the core runs one user program: ecall is a system call, and any other exception halts the
    // core. Without, the core starts at machine level, and exceptions go to mtvec.
    Environment* environment = nullptr;
    uint64_t instructions_max = ~uint64_t{0};  // then the core halts
  };

  // Memory, port and environment must outlive the core.
  Core(Memory& memory, const Options& options);
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  // Runs until cycle() is `end`, one cycle per instruction, or until the core halts.
  void Run(uint64_t end);
  // The same with the cycles that the caches of `timing` cost; see core_loop.h.
  template <typename Timing>
  Pause Advance(Timing& timing, uint64_t end);
  // After Pause::kMiss: the next instruction is executed in `cycle`, which must not be below cycle().
  void StallUntil(uint64_t cycle) { cycle_ = cycle; }

  // The next instruction would be executed in this cycle; the cycles below it have passed.
  uint64_t cycle() const { return cycle_; }
  // The instructions retired so far: those of CSR minstret.
  uint64_t instructions() const { return instructions_; }
  const std::optional<Halt>& halt() const { return halt_; }

  uint64_t pc() const { return pc_; }
  void set_pc(uint64_t pc) { pc_ = pc; }
  // `index` is 0 to 31; register 0 stays 0.
  uint64_t x(size_t index) const { return registers_[index]; }
  void set_x(size_t index, uint64_t value) { registers_[index == 0 ? kDiscarded : index] = value; }
  const CsrFile& csrs() const { return csrs_; }
  const Memory& memory() const { return memory_; }

 private:
  enum class Stop { kEnd, kMiss, kSlow };

  bool MayContinue();
  bool TakeInterrupt();
  uint64_t UninterruptedEnd(uint64_t end) const;
  bool IsPortAccess(const Instruction& instruction) const;
  template <typename Timing>
  Stop RunFast(Timing& timing, uint64_t end);

  bool Step(const Instruction& instruction);
  bool StepOther(const Instruction& instruction);
  bool StepJump(const Instruction& instruction);
  bool StepCsr(const Instruction& instruction);
  bool StepCall();
  bool StepReturn();
  std::optional<uint64_t> ReadCsr(uint16_t csr);
  bool WriteCsr(uint16_t csr, uint64_t value);
  bool IllegalInstruction();
  void Trap(uint64_t cause, uint64_t value);
  CsrFile::Progress progress() const { return {cycle_, instructions_}; }

  // Constant after construction.
  Memory& memory_;
  CsrPort* const port_;
  Environment* const environment_;
  const uint64_t instructions_max_;

  CodeCache code_;
  CsrFile csrs_;
  std::array<uint64_t, kDiscarded + 1> registers_{};
  uint64_t pc_;  // a multiple of 4
  uint64_t cycle_ = 0;
  uint64_t instructions_ = 0;
  std::optional<Halt> halt_;
};

}  // namespace sideband::riscv

#endif  // SIDEBAND_SIM_RISCV_CORE_H_
