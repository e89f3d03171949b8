// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/i2c-dev.h>
#include <linux/i2c.h>

#include <cerrno>
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
#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/base/status_macros.h"
#include "proto/base/yaml.h"
#include "proto/smbus/transfer.h"
#include "secure_mcu/chip/chip.h"
#include "sim/bus/board_fault.h"
#include "sim/bus/bus_files.h"
#include "sim/bus/fault_plan.h"
#include "sim/bus/faulty_bus.h"
#include "sim/bus/virtual_adapter.h"
#include "sim/riscv/cache.h"
#include "sim/riscv/core.h"
#include "sim/riscv/core_loop.h"
#include "sim/riscv/csr.h"
#include "sim/riscv/instruction.h"
#include "sim/riscv/kernels/kernels.h"
#include "sim/riscv/machine.h"
#include "sim/riscv/program.h"
#include "sim/riscv/shape.h"
#include "sim/riscv/test_core.h"

namespace sideband::riscv {
namespace {

void UseCore(const Program& program, LinuxCalls& calls) {
  //@ sim/riscv/core.h
}

void UseCsr() {
  //@ sim/riscv/csr.h
}

void UseInstruction() {
  //@ sim/riscv/instruction.h
}

void UseKernels() {
  //@ sim/riscv/kernels/kernels.h
}

absl::Status UseProgram() {
  //@ sim/riscv/program.h
  return absl::OkStatus();
}

absl::Status UseMachine(const std::vector<uint32_t>& words, std::unique_ptr<Machine> another_machine, mcu::Chip* chip) {
  //@ sim/riscv/machine.h
  return absl::OkStatus();
}

absl::Status UseShape() {
  //@ sim/riscv/shape.h
  return absl::OkStatus();
}

void UseCache(uint64_t address, const MachineShape& shape) {
  //@ sim/riscv/cache.h
}

void UseTestCore() {
  //@ sim/riscv/test_core.h
}

}  // namespace

//@ sim/riscv/core_loop.h

}  // namespace sideband::riscv

namespace sideband::i2cdev {
namespace {

int UseBusFiles(int fd, unsigned long request, unsigned long argument, DIR* dir, const dirent* entry) {
  //@ sim/bus/bus_files.h
  return -1;
}

absl::StatusOr<smbus::TransferResult> CarryOut(const smbus::Transfer& transfer);

void UseVirtualAdapter(unsigned long argument) {
  //@ sim/bus/virtual_adapter.h
}

}  // namespace
}  // namespace sideband::i2cdev

namespace sideband::sim {
namespace {

void UseBoardFault() {
  //@ sim/bus/board_fault.h
}

absl::Status UseFaultPlan() {
  //@ sim/bus/fault_plan.h
  return absl::OkStatus();
}

struct Device {
  void Restart();
};

void UseFaultyBus(smbus::Bus& targets, const FaultPlan& plan, Device& device, const smbus::Transfer& transfer) {
  //@ sim/bus/faulty_bus.h
}

}  // namespace
}  // namespace sideband::sim
