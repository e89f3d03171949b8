// SPDX-License-Identifier: Apache-2.0
//
// Reconstructs the messages that took place on the wires, from a controller's request and its result.
//   const std::vector<WireMessage> wire = OnTheWire(record);
//   WireText(wire, record.result);   // "S 4F+W 5C Sr 4F+R 04 02 00 00 1F pec 6F ok P"
#ifndef SIDEBAND_CLIENT_BUS_WIRE_H_
#define SIDEBAND_CLIENT_BUS_WIRE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/base/bytes.h"
#include "proto/smbus/bus_frame.h"

namespace sideband::client {

// The packet error code in a message.
struct PecByte {
  size_t index = 0;  // in the message's bytes
  uint8_t expected = 0;
  uint8_t actual = 0;

  bool ok() const { return expected == actual; }
};

// `bytes` refers to the record, which must outlive the message.
struct WireMessage {
  uint8_t address = 0;
  bool read = false;
  ByteSpan bytes;
  // The outcome of this message: kOk if the next message or the STOP followed.
  smbus::Outcome end = smbus::Outcome::kOk;
  std::optional<PecByte> pec;  // set by the protocol's decoder
};

// A result does not identify the message in which the transaction ended. The end is assumed in the message after the
// last completed read. If several writes follow that read, it is the first write whose address had not answered before;
// for outcomes other than an address NACK, also the first write with bytes.
std::vector<WireMessage> OnTheWire(const smbus::BusRecord& record);

// The duration in bit times, without clock stretching.
uint64_t WireBits(const std::vector<WireMessage>& wire);

// One line in hexadecimal. Long messages are cut to their beginning and the last byte.
std::string WireText(const std::vector<WireMessage>& wire, const std::optional<smbus::TransferResult>& result);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_WIRE_H_
