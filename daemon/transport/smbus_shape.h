// SPDX-License-Identifier: Apache-2.0
//
// Which transactions are SMBus block transactions with a PEC: all that an adapter can do that does not carry messages.
//   if (const auto write = AsBlockWrite(transfer)) …
//   if (const auto read = AsBlockRead(transfer)) …
#ifndef SIDEBAND_DAEMON_TRANSPORT_SMBUS_SHAPE_H_
#define SIDEBAND_DAEMON_TRANSPORT_SMBUS_SHAPE_H_

#include <cstdint>
#include <optional>

#include "proto/base/bytes.h"
#include "proto/smbus/transfer.h"

namespace sideband::daemon {

// The largest block of SMBus 2, and of Linux' I2C_SMBUS.
inline constexpr size_t kSmbus2BlockBytesMax = 32;

struct BlockWrite {
  uint8_t address;
  uint8_t code;
  ByteSpan block;  // 1 to 32 bytes, in the transfer
};
// One message: a command code, a count, as many bytes, and their right PEC.
std::optional<BlockWrite> AsBlockWrite(const smbus::Transfer& transfer);

struct BlockRead {
  uint8_t address;
  uint8_t code;
  // How many bytes the controller wants to clock: count, block and PEC; 0 where the count is to decide.
  size_t wire_bytes;
};
// A command code, a repeated START, and a read that has room for a count, at least one byte and a PEC, and at most 32.
std::optional<BlockRead> AsBlockRead(const smbus::Transfer& transfer);

// The bytes that `read` would have clocked in if a device had sent `block`: the count, the block, its PEC, and after
// that what an idle bus reads as.
Bytes AsClocked(const BlockRead& read, ByteSpan block);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_TRANSPORT_SMBUS_SHAPE_H_
