// SPDX-License-Identifier: Apache-2.0
//
// The numbers of the control and status registers, of privileges and of traps; and the port where a core's accesses to
// the registers hpcc, hpcm and hpcr end, the client of a counter pipeline.
//   const bool denied = PrivilegeOf(kMstatus) > Privilege::kUser;
//   class CountingPort final : public CsrPort {
//     std::optional<uint64_t> Read(uint16_t, Privilege, uint64_t) override { return ++reads_; }
//     bool Write(uint16_t, uint64_t, Privilege, uint64_t) override { return false; }
//     uint64_t reads_ = 0;
//   };
// Source: The RISC-V Instruction Set Manual, volume II, version 20190608, chapters 2 and 3; registers.md, "Registers".
#ifndef SIDEBAND_SIM_RISCV_CSR_H_
#define SIDEBAND_SIM_RISCV_CSR_H_

#include <cstdint>
#include <optional>

namespace sideband::riscv {

enum class Privilege : uint8_t { kUser = 0, kMachine = 3 };

// --- Numbers of registers -------------------------------------------------------------------------------------------

inline constexpr uint16_t kCsrsMax = 0x1000;
inline constexpr Privilege PrivilegeOf(uint16_t csr) {
  return (csr >> 8 & 3) == 0 ? Privilege::kUser : Privilege::kMachine;
}
inline constexpr bool IsReadOnly(uint16_t csr) { return (csr >> 10 & 3) == 3; }

inline constexpr uint16_t kMstatus = 0x300;
inline constexpr uint16_t kMisa = 0x301;
inline constexpr uint16_t kMie = 0x304;
inline constexpr uint16_t kMtvec = 0x305;
inline constexpr uint16_t kMcounteren = 0x306;
inline constexpr uint16_t kMscratch = 0x340;
inline constexpr uint16_t kMepc = 0x341;
inline constexpr uint16_t kMcause = 0x342;
inline constexpr uint16_t kMtval = 0x343;
inline constexpr uint16_t kMip = 0x344;
inline constexpr uint16_t kMcycle = 0xB00;
inline constexpr uint16_t kMinstret = 0xB02;
inline constexpr uint16_t kMhpmcounter3 = 0xB03;  // to 31: read 0
inline constexpr uint16_t kMhpmcounter31 = 0xB1F;
inline constexpr uint16_t kMhpmevent3 = 0x323;  // to 31: read 0
inline constexpr uint16_t kMhpmevent31 = 0x33F;
inline constexpr uint16_t kCycle = 0xC00;
inline constexpr uint16_t kTime = 0xC01;  // the same as kCycle
inline constexpr uint16_t kInstret = 0xC02;
inline constexpr uint16_t kHpmcounter31 = 0xC1F;
inline constexpr uint16_t kMvendorid = 0xF11;
inline constexpr uint16_t kMarchid = 0xF12;
inline constexpr uint16_t kMimpid = 0xF13;
inline constexpr uint16_t kMhartid = 0xF14;

// Ours, in the range for custom machine registers. The timer interrupt is pending while mcycle's clock, the core's
// cycle, is at or after mtimecmp. A write of mexit ends the core's program with its low 8 bits.
inline constexpr uint16_t kMtimecmp = 0x7C0;
inline constexpr uint16_t kMexit = 0x7C1;

// The reading core's, behind a CsrPort.
inline constexpr uint16_t kHpcc = 0x800;
inline constexpr uint16_t kHpcm = 0x801;
inline constexpr uint16_t kHpcr = 0xCC0;
inline constexpr bool IsPortCsr(uint16_t csr) { return csr == kHpcc || csr == kHpcm || csr == kHpcr; }

// --- Bits -----------------------------------------------------------------------------------------------------------

inline constexpr uint64_t kMstatusMie = uint64_t{1} << 3;
inline constexpr uint64_t kMstatusMpie = uint64_t{1} << 7;
inline constexpr int kMstatusMppShift = 11;
inline constexpr uint64_t kMstatusMpp = uint64_t{3} << kMstatusMppShift;
inline constexpr uint64_t kMstatusUxl64 = uint64_t{2} << 32;
inline constexpr uint64_t kTimerInterrupt = uint64_t{1} << 7;  // of mie and mip

// --- Causes of traps ------------------------------------------------------------------------------------------------

inline constexpr uint64_t kCauseInterrupt = uint64_t{1} << 63;
inline constexpr uint64_t kCauseTimer = kCauseInterrupt | 7;
inline constexpr uint64_t kCauseFetchMisaligned = 0;
inline constexpr uint64_t kCauseFetchAccess = 1;
inline constexpr uint64_t kCauseIllegal = 2;
inline constexpr uint64_t kCauseBreakpoint = 3;
inline constexpr uint64_t kCauseLoadMisaligned = 4;
inline constexpr uint64_t kCauseLoadAccess = 5;
inline constexpr uint64_t kCauseStoreMisaligned = 6;
inline constexpr uint64_t kCauseStoreAccess = 7;
inline constexpr uint64_t kCauseUserCall = 8;
inline constexpr uint64_t kCauseMachineCall = 11;

// `csr` is kHpcc, kHpcm or kHpcr. `cycle` is the core's cycle in which the instruction executes; the cycles of all
// calls of a machine's ports ascend, and every event of a lower cycle has happened on all its cores and slices
// (machine.h). A port must not run the machine.
class CsrPort {
 public:
  virtual ~CsrPort() = default;

  // Exactly once for each instruction that reads the register: csrrw and csrrwi with rd = x0 do not, all others do.
  // nullopt: the instruction raises the illegal-instruction exception.
  virtual std::optional<uint64_t> Read(uint16_t csr, Privilege level, uint64_t cycle) = 0;
  // Exactly once for each instruction that writes the register, after its read: csrrs and csrrc with x0 or 0 do not,
  // nor does an instruction whose read was refused, or that writes kHpcr, which is read-only. false: the instruction
  // raises the illegal-instruction exception; rd is then unchanged.
  virtual bool Write(uint16_t csr, uint64_t value, Privilege level, uint64_t cycle) = 0;
};

}  // namespace sideband::riscv

#endif  // SIDEBAND_SIM_RISCV_CSR_H_
