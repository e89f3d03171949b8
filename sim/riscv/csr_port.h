// SPDX-License-Identifier: Apache-2.0
//
// Where a core's accesses to the registers hpcc, hpcm and hpcr end: the client of a counter pipeline.
//   class CountingPort final : public CsrPort {
//     std::optional<uint64_t> Read(uint16_t, Privilege, uint64_t) override { return ++reads_; }
//     bool Write(uint16_t, uint64_t, Privilege, uint64_t) override { return false; }
//     uint64_t reads_ = 0;
//   };
// (registers.md, "Registers")
#ifndef SIDEBAND_SIM_RISCV_CSR_PORT_H_
#define SIDEBAND_SIM_RISCV_CSR_PORT_H_

#include <cstdint>
#include <optional>

#include "sim/riscv/csr.h"

namespace sideband::riscv {

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

#endif  // SIDEBAND_SIM_RISCV_CSR_PORT_H_
