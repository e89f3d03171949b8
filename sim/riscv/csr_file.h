// SPDX-License-Identifier: Apache-2.0
//
// A core's control and status registers of machine and user level, and what a trap does to them.
//   CsrFile csrs(/*hart=*/0);
//   csrs.Write(kMtvec, 0x10100, {.cycle = 5, .instructions = 3});
//   const uint64_t handler = csrs.EnterTrap(kCauseIllegal, /*value=*/0, /*pc=*/0x10020);   // 0x10100
//   const uint64_t resumed = csrs.Return();                                                // 0x10020
#ifndef SIDEBAND_SIM_RISCV_CSR_FILE_H_
#define SIDEBAND_SIM_RISCV_CSR_FILE_H_

#include <cstdint>
#include <optional>

#include "sim/riscv/csr.h"

namespace sideband::riscv {

// Not thread-safe.
class CsrFile {
 public:
  static constexpr uint64_t kNever = ~uint64_t{0};

  // What the core has done before the instruction that accesses a register.
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

  // What mcycle and minstret are ahead of the core's own numbers, modulo 2^64.
  uint64_t cycle_offset_ = 0;
  uint64_t instructions_offset_ = 0;
};

}  // namespace sideband::riscv

#endif  // SIDEBAND_SIM_RISCV_CSR_FILE_H_
