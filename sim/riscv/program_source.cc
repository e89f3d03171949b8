// SPDX-License-Identifier: Apache-2.0
#include "sim/riscv/program_source.h"

#include <algorithm>
#include <utility>

namespace sideband::riscv {

ProgramSource::ProgramSource(std::unique_ptr<Machine> machine, uint64_t window_cycles)
    : machine_(std::move(machine)), window_(machine_->wires().count(), window_cycles, sim::kHistoryCycles) {
  machine_->Record(&window_);
}

// A full window slides first.
uint64_t ProgramSource::WindowEnd() {
  if (window_.range().size() == window_.capacity()) window_.Slide();
  return window_.range().begin + window_.capacity();
}

void ProgramSource::AdvanceTo(uint64_t cycle) { machine_->RunTo(std::min(cycle, WindowEnd())); }

void ProgramSource::AdvanceToAccess(uint64_t cycle) { machine_->RunToAccess(std::min(cycle, WindowEnd())); }

}  // namespace sideband::riscv
