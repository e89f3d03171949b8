// SPDX-License-Identifier: Apache-2.0
//
// The snapshot extension's commands: what goes into data-in (5D), extended data-in (5E) and comes out of them. All of
// it is our own definition (README.md has the table and a worked exchange).
//
// A stream (the catalogue or a latched snapshot) is read through sixteen block windows of w bytes, which arg2 of the
// command that opens it says (0: 255): after CATALOG or READ with byte offset b, or LATCH with b = 0, command code
// 0xD0 + i is an SMBus block read of bytes [b + i·w, b + (i+1)·w) of that stream, with PEC. Windows change nothing, so
// that a damaged one is simply read again; a controller that was interrupted goes on with READ from where it was.
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
// How much of a stream one command opens.
constexpr uint32_t WindowSpanBytes(uint32_t window_bytes) { return uint32_t{kWindowCount} * window_bytes; }
// No device's stream is longer; a controller refuses one that says so.
inline constexpr uint32_t kStreamBytesMax = 64 << 20;

// arg1 of DISCOVER.
//   kVersion: 5D = version 7:0, window bytes 15:8, window count 23:16;      5E = served opcodes, bit n for 0x60 + n
//   kLimits:  5D = memory blocks now;                                         5E = counters in each block
//   kBootId:  5D = boot id 31:0;                                              5E = boot id 63:32
//   kCatalog: 5D = catalogue stream's length in bytes;                        5E = catalogue hash
enum class DiscoverItem : uint8_t { kVersion = 0, kLimits = 1, kBootId = 2, kCatalog = 3 };

// CATALOG: 5D in = byte offset; 5D out = stream length, 5E out = catalogue hash (the CRC-32C of its payload).
// LATCH:   5D in = id of the snapshot that the controller holds, arg1 = its mark 6:0 and bit 7; 0 in both for none. If
//          that is the latched one it is acknowledged thereby; where id and arg1 do not fit it is taken for none. 5D
//          out = snapshot id, 5E out = stream length. The latched blocks replace those latched before. What has not
//          changed since the snapshot that the controller holds is left out, if it is the one that the device holds,
//          too.
// READ:    arg1 = selector; 5D in = byte offset, 5E in = snapshot id, or the scope (below); 5D out = stream length, 5E
//          out = snapshot id. A snapshot id that is not the latched one answers ERR_AGAIN: it was superseded, latch
//          anew.
// ACK:     5D in = snapshot id, arg1, arg2 = its mark 7:0 and 15:8; likewise ERR_AGAIN, also where they do not fit. The
//          controller holds it: later latches may be relative to it, and what was retired in it is freed.
//   kLatched: the stream that LATCH opened. kWhole: the same snapshot, relative to nothing. kVm: one VM's blocks, its
//   id in 5E 15:0. kContext: one context's, the VM's id in 5E 15:0 and the context's in 31:16. The latter two name no
//   snapshot; the stream's header does.
enum class ReadSelector : uint8_t { kLatched = 0, kWhole = 1, kVm = 2, kContext = 3 };

// The mark: what LATCH and ACK say in their word of the snapshot whose id is in 5D, so that they acknowledge none but
// that. By the time they are carried out 5D may have been overwritten by another controller's LATCH, or by this one's
// when it is repeated; and another boot may have a snapshot of the same id.
constexpr uint16_t SnapshotMark(uint64_t boot_id, uint32_t snapshot_id) {
  return static_cast<uint16_t>(boot_id ^ snapshot_id);
}

// arg1 of a LATCH that names a base. Never 0, which is what a LATCH without one has.
constexpr uint8_t LatchMark(uint64_t boot_id, uint32_t base_id) {
  return static_cast<uint8_t>(0x80 | (SnapshotMark(boot_id, base_id) & 0x7F));
}

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_EXTENSION_H_
