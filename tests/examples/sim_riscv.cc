// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "proto/base/status_macros.h"
#include "secure_mcu/chip/chip.h"
#include "sim/riscv/assembler.h"
#include "sim/riscv/cache.h"
#include "sim/riscv/core.h"
#include "sim/riscv/core_loop.h"
#include "sim/riscv/csr.h"
#include "sim/riscv/csr_port.h"
#include "sim/riscv/decoder.h"
#include "sim/riscv/environment.h"
#include "sim/riscv/event.h"
#include "sim/riscv/instruction.h"
#include "sim/riscv/kernels/kernels.h"
#include "sim/riscv/linux_calls.h"
#include "sim/riscv/machine.h"
#include "sim/riscv/memory.h"
#include "sim/riscv/program.h"
#include "sim/riscv/program_source.h"
#include "sim/riscv/shape.h"
#include "sim/riscv/shared_cache.h"
#include "sim/riscv/test_core.h"
#include "sim/riscv/zeroed_array.h"

namespace sideband::riscv {

//@ sim/riscv/core_loop.h

namespace {

//@ sim/riscv/csr_port.h

//@ sim/riscv/environment.h

void UseAssembler() {
  //@ sim/riscv/assembler.h
}

void UseCache(uint64_t address) {
  //@ sim/riscv/cache.h
}

void UseCore(const Program& program, LinuxCalls& calls) {
  //@ sim/riscv/core.h
}

void UseCsr() {
  //@ sim/riscv/csr.h
}

void UseDecoder() {
  //@ sim/riscv/decoder.h
}

void UseEvent(const MachineShape& shape) {
  //@ sim/riscv/event.h
}

void UseInstruction() {
  //@ sim/riscv/instruction.h
}

void UseKernels() {
  //@ sim/riscv/kernels/kernels.h
}

void UseLinuxCalls(Memory& memory) {
  //@ sim/riscv/linux_calls.h
}

absl::Status UseMachine(const std::vector<uint32_t>& words) {
  //@ sim/riscv/machine.h
  return absl::OkStatus();
}

void UseMemory() {
  //@ sim/riscv/memory.h
}

absl::Status UseProgram(Memory& memory) {
  //@ sim/riscv/program.h
  return absl::OkStatus();
}

void UseProgramSource(std::unique_ptr<Machine> machine, mcu::Chip* chip) {
  //@ sim/riscv/program_source.h
}

absl::Status UseShape() {
  //@ sim/riscv/shape.h
  return absl::OkStatus();
}

void UseSharedCache(const MachineShape& shape) {
  //@ sim/riscv/shared_cache.h
}

void UseTestCore() {
  //@ sim/riscv/test_core.h
}

void UseZeroedArray() {
  //@ sim/riscv/zeroed_array.h
}

}  // namespace
}  // namespace sideband::riscv
