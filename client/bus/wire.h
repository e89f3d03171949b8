// SPDX-License-Identifier: Apache-2.0
//
// What was to be seen on the wires in a transaction: from what a controller asked for and what became of it, the
// messages that took place, as far as they did.
//   const std::vector<WireMessage> wire = OnTheWire(record);
//   WireText(wire, record.result);   // "S 4F+W 5C Sr 4F+R 04 02 00 00 1F pec 6F ok P"
#ifndef SIDEBAND_CLIENT_BUS_WIRE_H_
#define SIDEBAND_CLIENT_BUS_WIRE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/base/bytes.h"
#include "proto/smbus/monitor_frame.h"

namespace sideband::client {

// A packet error code that a message carried.
struct PecByte {
  size_t index = 0;  // in the message's bytes
  uint8_t expected = 0;
  uint8_t actual = 0;

  bool ok() const { return expected == actual; }
};

// The bytes are those of the record that it was made from, which must outlive it.
struct WireMessage {
  uint8_t address = 0;
  bool read = false;
  ByteSpan bytes;
  // How it ended: kOk where the next message or the STOP followed.
  smbus::Outcome end = smbus::Outcome::kOk;
  std::optional<PecByte> pec;  // put in by who knows the protocol
};

// A result does not say in which message the transaction ended. It is the one after the last that was read; where
// several were written since, the first whose address had not answered before.
std::vector<WireMessage> OnTheWire(const smbus::BusRecord& record);

// Of that, in bit times and without clock stretching.
uint64_t WireBits(const std::vector<WireMessage>& wire);

// Hexadecimal, in one line. Of long messages only the beginning and the last byte are shown.
std::string WireText(const std::vector<WireMessage>& wire, const std::optional<smbus::TransferResult>& result);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_WIRE_H_
