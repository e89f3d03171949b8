// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "proto/base/errors.h"
#include "proto/base/status_macros.h"
#include "secure_mcu/chip_file/unit_plan.h"
#include "secure_mcu/device/unit_wiring.h"
#include "secure_mcu/device/wiring.h"
#include "sim/wires/packed_wires.h"

namespace sideband::mcu {

absl::StatusOr<Wiring> MakeProgramWiring(const ChipFile& file) {
  SIDEBAND_ASSIGN_OR_RETURN(UnitPlan plan, PlanUnits(file));
  std::vector<std::shared_ptr<SliceProgram>> programs;
  std::vector<std::shared_ptr<sim::WireSource>> slices;
  for (const ProgramFileSpec& spec : file.programs) {
    SIDEBAND_ASSIGN_OR_RETURN(const riscv::Program words, riscv::LoadProgram(spec.hex));
    auto program = SliceProgram::Create(static_cast<uint8_t>(programs.size()), spec, words);
    if (!program.ok()) return AtLine(program.status(), file.path, spec.line);
    slices.push_back((*program)->source());
    programs.push_back(*std::move(program));
  }
  // A chip with programs has no units of the whole device.
  auto device = std::make_shared<sim::PackedWires>(/*wire_count=*/0, /*capacity=*/64);
  Wiring wiring = WireUnits(file, std::move(plan), std::move(slices), std::move(device));
  wiring.programs = std::move(programs);
  return wiring;
}

}  // namespace sideband::mcu
