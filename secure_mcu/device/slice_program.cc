// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/device/slice_program.h"

#include <algorithm>
#include <utility>

#include "proto/base/status_macros.h"

namespace sideband::mcu {
namespace {

HpcRegister RegisterOf(uint16_t csr) {
  if (csr == riscv::kHpcc) return HpcRegister::kHpcc;
  return csr == riscv::kHpcm ? HpcRegister::kHpcm : HpcRegister::kHpcr;
}

HpcPrivilege PrivilegeOf(riscv::Privilege level) {
  return level == riscv::Privilege::kUser ? HpcPrivilege::kUser : HpcPrivilege::kSupervisor;
}

}  // namespace

std::optional<uint64_t> HpcCsrPort::Read(uint16_t csr, riscv::Privilege /*level*/, uint64_t cycle) {
  return chip_->live().hpc().Read(slice_, RegisterOf(csr), cycle);
}

bool HpcCsrPort::Write(uint16_t csr, uint64_t value, riscv::Privilege level, uint64_t /*cycle*/) {
  return chip_->guests().WriteHpc(slice_, RegisterOf(csr), value, PrivilegeOf(level));
}

absl::StatusOr<std::shared_ptr<SliceProgram>> SliceProgram::Create(uint8_t slice, const ProgramFileSpec& spec,
                                                                   const riscv::Program& program) {
  auto port = std::make_unique<HpcCsrPort>(slice);
  const riscv::CoreProgram of_core{
      .words = program.words, .argument = spec.argument, .is_user = spec.is_user, .port = port.get()};
  const std::vector<riscv::CoreProgram> cores(spec.shape.cores, of_core);
  SIDEBAND_ASSIGN_OR_RETURN(auto machine, riscv::Machine::Create(spec.shape, cores));
  return std::shared_ptr<SliceProgram>(new SliceProgram(std::move(port), std::move(machine)));
}

SliceProgram::SliceProgram(std::unique_ptr<HpcCsrPort> port, std::unique_ptr<riscv::Machine> machine)
    : port_(std::move(port)), source_(std::make_shared<riscv::ProgramSource>(std::move(machine))) {}

SlicePrograms::SlicePrograms(std::vector<std::shared_ptr<SliceProgram>> programs, Chip& chip)
    : programs_(std::move(programs)), chip_(chip) {
  for (const auto& program : programs_) program->Connect(chip_);
}

// A machine stops before each access, and goes on once the chip, hence every other machine, has come to the same cycle.
void SlicePrograms::AdvanceTo(uint64_t cycle, const std::function<void(uint64_t)>& play) const {
  do {
    uint64_t reached = cycle;
    for (const auto& program : programs_) {
      riscv::ProgramSource& source = *program->source();
      if (source.now() <= chip_.now()) source.AdvanceToAccess(cycle);
      reached = std::min(reached, source.now());
    }
    play(reached);
  } while (chip_.now() < cycle);
}

}  // namespace sideband::mcu
