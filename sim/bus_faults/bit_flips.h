// SPDX-License-Identifier: Apache-2.0
//
// Executes a transaction on a wire that changes bits, on their way to the target or back.
//   const BitFlip flip = {.place = PlaceOf(transfer, 3), .mask = 0x10};
//   const smbus::TransferResult result = ExecuteFlipped(bus, transfer, {&flip, 1});
#ifndef SIDEBAND_SIM_BUS_FAULTS_BIT_FLIPS_H_
#define SIDEBAND_SIM_BUS_FAULTS_BIT_FLIPS_H_

#include <cstdint>
#include <span>

#include "proto/smbus/bus.h"
#include "sim/bus_faults/transfer_edits.h"

namespace sideband::sim {

struct BitFlip {
  WirePlace place;  // an offset beyond the bytes read wraps around: their number is only known afterwards
  uint8_t mask = 0;
};

// Changed data reaches the receiver as it is. If the count of a block read changes, the controller clocks as many bytes
// as the changed count. A changed address selects another target, or none (kAddressNack). A changed direction bit:
// - write taken for a read: the target also drives the wire, so the controller sees its own bits change and stops
//   (kArbitrationLost);
// - read taken for a write: the target leaves the wire idle, so the controller reads ones, which the target takes for
//   data.
smbus::TransferResult ExecuteFlipped(smbus::Bus& bus, const smbus::Transfer& transfer, std::span<const BitFlip> flips);

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_BUS_FAULTS_BIT_FLIPS_H_
