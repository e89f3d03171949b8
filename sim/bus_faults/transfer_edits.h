// SPDX-License-Identifier: Apache-2.0
//
// A transaction as the row of bytes that passes on the wire, address bytes included, and what may be done to it there.
//   const Transfer seen = Prefix(transfer, 4);        // what a target sees when the transaction ends after four bytes
//   AnswerBlock({0x00, 0x00, 0x00, 0x80}, transfer, result);   // the target had answered this block, with its PEC
#ifndef SIDEBAND_SIM_BUS_FAULTS_TRANSFER_EDITS_H_
#define SIDEBAND_SIM_BUS_FAULTS_TRANSFER_EDITS_H_

#include <cstdint>

#include "proto/base/bytes.h"
#include "proto/smbus/transfer.h"

namespace sideband::sim {

// What a controller reads where nobody drives the bus.
inline constexpr uint8_t kIdleByte = 0xFF;

// Where a byte is in a transaction.
struct WirePlace {
  enum class Part : uint8_t { kAddress, kWritten, kRead };
  size_t message = 0;
  Part part = Part::kAddress;
  size_t offset = 0;  // among the message's data
};

// How many bytes pass. A block read, whose length only the target knows, counts as one of four bytes.
size_t WireBytes(const smbus::Transfer& transfer);
// `byte` must be below WireBytes.
WirePlace PlaceOf(const smbus::Transfer& transfer, size_t byte);
// What is left of it when it ends, with a STOP, after `bytes` bytes; all of it where there are no more. A message of
// which only the address byte is left has no data. Without messages for 0.
smbus::Transfer Prefix(const smbus::Transfer& transfer, size_t bytes);

// The packet error code over all that passed: 0 where the transaction carries one of its own and it is right.
uint8_t PecOverAll(const smbus::Transfer& transfer, const smbus::TransferResult& result);

// Whether the transaction ends with an answer that starts with the count of its data.
bool EndsWithBlock(const smbus::Transfer& transfer, const smbus::TransferResult& result);
// As though the target had answered the last message with the block `data` and its PEC, of which the controller clocks
// as much as it asked for. EndsWithBlock must hold.
void AnswerBlock(ByteSpan data, const smbus::Transfer& transfer, smbus::TransferResult& result);

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_BUS_FAULTS_TRANSFER_EDITS_H_
