// SPDX-License-Identifier: Apache-2.0
#include "sim/riscv/program_source.h"

#include <algorithm>
#include <utility>

namespace sideband::riscv {

ProgramSource::ProgramSource(std::unique_ptr<Machine> machine, uint64_t window_cycles)
    : machine_(std::move(machine)), window_(machine_->wires().count(), window_cycles, sim::kHistoryCycles) {
  machine_->Record(&window_);
}

void ProgramSource::AdvanceTo(uint64_t cycle) {
  if (window_.range().size() == window_.capacity()) window_.Slide();
  machine_->RunTo(std::min(cycle, window_.range().begin + window_.capacity()));
}

}  // namespace sideband::riscv
