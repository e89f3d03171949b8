// SPDX-License-Identifier: Apache-2.0
//
// A transaction on a wire that changes bits of it, on their way to the target or back.
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
  WirePlace place;  // an offset beyond the bytes that were read wraps around: their number is known only afterwards
  uint8_t mask = 0;
};

// In data, the far side gets other bytes; of a block read whose count changes, the controller clocks as many bytes as
// it was told. In an address, somebody else is spoken to, or nobody (kAddressNack); and where it is the direction:
// * a target that takes a write for a read drives the wire too: the controller sees its own bits change and gives up
//   (kArbitrationLost);
// * a target that takes a read for a write lets the wire idle: the controller reads ones, which the target takes for
//   data.
smbus::TransferResult ExecuteFlipped(smbus::Bus& bus, const smbus::Transfer& transfer, std::span<const BitFlip> flips);

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_BUS_FAULTS_BIT_FLIPS_H_
