// SPDX-License-Identifier: Apache-2.0
//
// Recognises SMBus block transactions with PEC: the only transactions of an adapter without I2C_FUNC_I2C.
//   if (const auto write = AsBlockWrite(transfer)) return Write(*write);
//   if (const auto read = AsBlockRead(transfer)) return Read(*read);
#ifndef SIDEBAND_DAEMON_TRANSPORT_SMBUS_SHAPE_H_
#define SIDEBAND_DAEMON_TRANSPORT_SMBUS_SHAPE_H_

#include <cstdint>
#include <optional>

#include "proto/base/bytes.h"
#include "proto/smbus/transfer.h"

namespace sideband::daemon {

// The largest block of SMBus 2 and of Linux' I2C_SMBUS.
inline constexpr size_t kSmbus2BlockBytesMax = 32;

struct BlockWrite {
  uint8_t address;
  uint8_t code;
  ByteSpan block;  // 1 to 32 bytes, points into the transfer
};
// Matches one message: a command code, a count, that number of bytes, and their correct PEC.
std::optional<BlockWrite> AsBlockWrite(const smbus::Transfer& transfer);

struct BlockRead {
  uint8_t address;
  uint8_t code;
  // Number of bytes that the controller clocks: count, block and PEC. 0 if the count byte decides.
  size_t wire_bytes;
};
// Matches a command code, a repeated START, and a read with room for a count, 1 to 32 bytes and a PEC.
std::optional<BlockRead> AsBlockRead(const smbus::Transfer& transfer);

// Returns the bytes that `read` would have clocked for a device that sent `block`: the count, the block, its PEC, then
// 0xFF as on an idle bus.
Bytes AsClocked(const BlockRead& read, ByteSpan block);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_TRANSPORT_SMBUS_SHAPE_H_
