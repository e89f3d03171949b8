// SPDX-License-Identifier: Apache-2.0
//
// The program of a slice: a machine whose events are the slice's wires, and whose cores have the slice's HPC client as
// their CSRs hpcc, hpcm and hpcr (registers.md, "The reading core"). User level is a user, machine level a supervisor.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto program, SliceProgram::Create(/*slice=*/0, spec, words));
//   program->Connect(*chip);
//   const SlicePrograms programs({program}, *chip);
//   programs.AdvanceTo(1'000'000, [&](uint64_t cycle) { player.PlayTo(cycle); });
// The machine does not follow the slice's residents: as a waveform does, it goes on through switches and gaps.
#ifndef SIDEBAND_SECURE_MCU_DEVICE_SLICE_PROGRAM_H_
#define SIDEBAND_SECURE_MCU_DEVICE_SLICE_PROGRAM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "secure_mcu/chip/chip.h"
#include "secure_mcu/chip_file/chip_spec.h"
#include "sim/riscv/csr.h"
#include "sim/riscv/memory.h"
#include "sim/riscv/program.h"
#include "sim/riscv/program_source.h"

namespace sideband::mcu {

// The client of a slice as a port of cores. The chip must be at the cycle of each access. Not thread-safe.
class HpcCsrPort final : public riscv::CsrPort {
 public:
  explicit HpcCsrPort(uint8_t slice) : slice_(slice) {}

  // Before the first access. `chip` must outlive the port's last access.
  void Connect(Chip& chip) { chip_ = &chip; }

  std::optional<uint64_t> Read(uint16_t csr, riscv::Privilege level, uint64_t cycle) override;
  // false: a user's trigger without useren.
  bool Write(uint16_t csr, uint64_t value, riscv::Privilege level, uint64_t cycle) override;

 private:
  const uint8_t slice_;
  Chip* chip_ = nullptr;
};

// Not thread-safe.
class SliceProgram {
 public:
  // INVALID_ARGUMENT if the words do not fit the memory of a core. Every core runs the same words; hart numbers tell
  // them apart.
  static absl::StatusOr<std::shared_ptr<SliceProgram>> Create(uint8_t slice, const ProgramFileSpec& spec,
                                                              const riscv::Program& program);

  void Connect(Chip& chip) { port_->Connect(chip); }
  // Its wires are those of sim/riscv/shape.h. This object must outlive the last call that advances it.
  const std::shared_ptr<riscv::ProgramSource>& source() const { return source_; }
  const riscv::Machine& machine() const { return source_->machine(); }

 private:
  SliceProgram(std::unique_ptr<HpcCsrPort> port, std::unique_ptr<riscv::Machine> machine);

  const std::unique_ptr<HpcCsrPort> port_;  // of all cores
  const std::shared_ptr<riscv::ProgramSource> source_;
};

// Advances the programs of a chip together with the chip, so that an access at cycle t finds the chip at cycle t, on
// every slice. Not thread-safe.
class SlicePrograms {
 public:
  // One program per slice, or none. `chip` must outlive it.
  SlicePrograms(std::vector<std::shared_ptr<SliceProgram>> programs, Chip& chip);

  // Brings the chip to `cycle`, by calls of `play` with ascending cycles. play(t) must switch what is due up to t, and
  // count the cycles below t. The result does not depend on the steps of the caller.
  void AdvanceTo(uint64_t cycle, const std::function<void(uint64_t)>& play) const;

 private:
  const std::vector<std::shared_ptr<SliceProgram>> programs_;
  Chip& chip_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_DEVICE_SLICE_PROGRAM_H_
