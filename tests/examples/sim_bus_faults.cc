// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "absl/status/status.h"
#include "proto/base/bytes.h"
#include "proto/base/status_macros.h"
#include "proto/base/yaml.h"
#include "proto/smbus/transfer.h"
#include "sim/bus_faults/board_fault.h"
#include "sim/bus_faults/fault_plan.h"
#include "sim/bus_faults/faulty_bus.h"
#include "sim/bus_faults/transfer_edits.h"

namespace sideband::sim {
namespace {

void UseBoardFault() {
  //@ sim/bus_faults/board_fault.h
}

absl::Status UseFaultPlan() {
  //@ sim/bus_faults/fault_plan.h
  return absl::OkStatus();
}

struct Device {
  void Restart();
};

void UseFaultyBus(smbus::Bus& targets, const FaultPlan& plan, Device& device, const smbus::Transfer& transfer) {
  //@ sim/bus_faults/faulty_bus.h
}

void UseTransferEdits(const smbus::Transfer& transfer, ByteSpan block, smbus::TransferResult& result) {
  //@ sim/bus_faults/transfer_edits.h
}

}  // namespace
}  // namespace sideband::sim
