// SPDX-License-Identifier: Apache-2.0
//
// Views a transaction as the bytes on the wire, address bytes included, and edits it there.
//   const smbus::Transfer seen = Prefix(transfer, 4);   // what a target sees if the transaction ends after four bytes
//   AnswerBlock(block, transfer, result);               // as if the target had answered this block, with its PEC
#ifndef SIDEBAND_SIM_BUS_TRANSFER_EDITS_H_
#define SIDEBAND_SIM_BUS_TRANSFER_EDITS_H_

#include <cstdint>

#include "proto/base/bytes.h"
#include "proto/smbus/transfer.h"

namespace sideband::sim {

// The byte that a controller reads from an undriven bus.
inline constexpr uint8_t kIdleByte = 0xFF;

// The place of a byte in a transaction.
struct WirePlace {
  enum class Part : uint8_t { kAddress, kWritten, kRead };
  size_t message = 0;
  Part part = Part::kAddress;
  size_t offset = 0;  // within the data of the message
};

// The number of bytes on the wire. The length of a block read is up to the target; it counts as a block of four bytes.
size_t WireBytes(const smbus::Transfer& transfer);
// `byte` must be below WireBytes.
WirePlace PlaceOf(const smbus::Transfer& transfer, size_t byte);
// The transaction cut after `bytes` bytes by a STOP, or all of it if it is shorter. A message cut after its address
// byte has no data. No messages if `bytes` is 0.
smbus::Transfer Prefix(const smbus::Transfer& transfer, size_t bytes);

// The packet error code over all bytes: 0 if the transaction carries a valid PEC of its own.
uint8_t PecOverAll(const smbus::Transfer& transfer, const smbus::TransferResult& result);

// Whether the transaction ends with an answer that starts with a count of its data.
bool EndsWithBlock(const smbus::Transfer& transfer, const smbus::TransferResult& result);
// Replaces the last answer by the block `data` and its PEC, of which the controller clocks as many bytes as it
// requested. EndsWithBlock must hold.
void AnswerBlock(ByteSpan data, const smbus::Transfer& transfer, smbus::TransferResult& result);

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_BUS_TRANSFER_EDITS_H_
