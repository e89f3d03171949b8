// SPDX-License-Identifier: Apache-2.0
//
// The snapshot extension's commands: what goes into data-in (5D), extended data-in (5E) and comes out of them. All of
// it is our own definition (README.md has the table and a worked exchange).
//
// A stream (the catalogue or a latched snapshot) is read through sixteen block windows: after a CATALOG or READ command
// with byte offset b, command code 0xD0 + i is an SMBus block read of bytes [b + i·255, b + (i+1)·255) of that stream,
// with PEC. Windows change nothing, so that a damaged one is simply read again.
#ifndef SIDEBAND_PROTO_MAILBOX_EXTENSION_H_
#define SIDEBAND_PROTO_MAILBOX_EXTENSION_H_

#include <cstdint>

#include "proto/mailbox/word.h"

namespace sideband::mailbox {

inline constexpr uint8_t kExtensionVersion = 1;

// Opcodes 0x60 to 0x6F.
constexpr bool IsExtension(Opcode opcode) { return static_cast<uint8_t>(opcode) >> 4 == 6; }

inline constexpr uint8_t kWindowFirst = 0xD0;
inline constexpr uint8_t kWindowCount = 16;
inline constexpr uint8_t kWindowBytes = 255;
// How much of a stream one CATALOG or READ command opens.
inline constexpr uint32_t kWindowSpanBytes = uint32_t{kWindowCount} * kWindowBytes;
// No device's stream is longer; a controller refuses one that says so.
inline constexpr uint32_t kStreamBytesMax = 64 << 20;

// arg1 of DISCOVER.
//   kVersion: 5D = version 7:0, window bytes 15:8, window count 23:16;      5E = served opcodes, bit n for 0x60 + n
//   kLimits:  5D = memory blocks now;                                         5E = counters in each block
//   kBootId:  5D = boot id 31:0;                                              5E = boot id 63:32
//   kCatalog: 5D = catalogue stream's length in bytes;                        5E = catalogue hash
enum class DiscoverItem : uint8_t { kVersion = 0, kLimits = 1, kBootId = 2, kCatalog = 3 };

// CATALOG: 5D in = byte offset; 5D out = stream length, 5E out = catalogue hash (the CRC-32C of its payload).
// LATCH:   no input; 5D out = snapshot id, 5E out = stream length. The latched blocks replace those latched before.
// READ:    arg1 = selector; 5D in = byte offset, 5E in = snapshot id; 5D out = stream length.
//          A snapshot id that is not the latched one answers ERR_AGAIN: it was superseded, latch anew.
// ACK:     5D in = snapshot id; likewise ERR_AGAIN where it was superseded.
enum class ReadSelector : uint8_t { kAll = 0 };

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_EXTENSION_H_
