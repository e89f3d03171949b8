// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "absl/status/status.h"
#include "proto/base/bytes.h"
#include "proto/base/status_macros.h"
#include "proto/base/yaml.h"
#include "proto/smbus/bus.h"
#include "proto/smbus/transfer.h"
#include "sim/bus_faults/bit_flips.h"
#include "sim/bus_faults/board_fault.h"
#include "sim/bus_faults/board_fault_reader.h"
#include "sim/bus_faults/fault_plan.h"
#include "sim/bus_faults/fault_trigger.h"
#include "sim/bus_faults/faulty_bus.h"
#include "sim/bus_faults/plan_word.h"
#include "sim/bus_faults/transfer_edits.h"

namespace sideband::sim {
namespace {

void UseBitFlips(smbus::Bus& bus, const smbus::Transfer& transfer) {
  //@ sim/bus_faults/bit_flips.h
}

void UseBoardFault() {
  //@ sim/bus_faults/board_fault.h
}

absl::Status UseBoardFaultReader(const YamlMap& map, FaultRule& rule) {
  //@ sim/bus_faults/board_fault_reader.h
  return absl::OkStatus();
}

absl::Status UsePlanWord(const YamlNode& node) {
  //@ sim/bus_faults/plan_word.h
  return absl::OkStatus();
}

absl::Status UseFaultPlan() {
  //@ sim/bus_faults/fault_plan.h
  return absl::OkStatus();
}

void FlipBit(uint64_t bit);

void UseFaultTrigger(const FaultRule& rule, const FaultPlan& plan, uint64_t transaction,
                     const smbus::Transfer& transfer) {
  //@ sim/bus_faults/fault_trigger.h
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
