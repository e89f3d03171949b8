// SPDX-License-Identifier: Apache-2.0
//
// The commands of the snapshot extension: their inputs in data-in (5D) and extended data-in (5E), and their outputs.
// The extension is our own definition (README.md has the table and worked examples).
//
// A stream (StreamKind) is read through sixteen block windows
// of w bytes; arg2 of the command that opens the stream sets w (0: 255). After CATALOG or READ with byte offset b, or
// LATCH with b = 0, command code 0xD0 + i is an SMBus block read of bytes [b + i·w, b + (i+1)·w) of that stream, with
// PEC. Windows have no side effects: a damaged window is read again, and an interrupted controller continues by READ
// from its last byte.
#ifndef SIDEBAND_PROTO_MAILBOX_EXTENSION_H_
#define SIDEBAND_PROTO_MAILBOX_EXTENSION_H_

#include <cstdint>

#include "proto/mailbox/stream.h"
#include "proto/mailbox/word.h"

namespace sideband::mailbox {

// The features of a device of version 2: the bits of DISCOVER's feature map. (mailbox.md, "Registry".)

// PEEK: live counters of one block, without a latch (peek.h).
inline constexpr uint64_t kPeekFeature = uint64_t{1} << 0;

// CONFIG: who is counted may be read and changed (counting.h).
inline constexpr uint64_t kGateGroupsFeature = uint64_t{1} << 1;
// Selections: a VM's choice of the events that are counted (counting.h).
inline constexpr uint64_t kSelectionsFeature = uint64_t{1} << 2;

// Blocks of the hypervisor's work on slices without a resident (catalog.h, HostBlockInfo).
inline constexpr uint64_t kHostBlocksFeature = uint64_t{1} << 3;

// VMs may be private: the device's block has none of their counts (catalog.h).
inline constexpr uint64_t kPrivateVmsFeature = uint64_t{1} << 4;

// Counter rotation: ROTATE, and numbers of what was not counted all the time (rotation.h).
inline constexpr uint64_t kRotationFeature = uint64_t{1} << 5;

// Clock domains in the catalogue, their clocks in snapshots, and the steps of TRIGGER from SELECT on (clocks.h).
inline constexpr uint64_t kClocksFeature = uint64_t{1} << 6;

// SEAL: the device seals the blocks of confidential VMs, so that no reader of the bus has them (proto/envelope).
inline constexpr uint64_t kSealingFeature = uint64_t{1} << 7;

struct FeatureRow {
  uint8_t bit;
  const char* name;
  uint8_t opcode;  // that serves the feature; 0: none
};
// Bits without a row are reserved; a reader ignores them.
inline constexpr FeatureRow kFeatures[] = {
    {0, "PEEK", 0x67},
    {1, "gate groups", 0x68},
    {2, "selections", 0x68},
    {3, "host blocks", 0},
    {4, "private VMs", 0},
    {5, "rotation", 0x69},
    {6, "clock domains, bookmarks", 0x66},
    {7, "sealing by the device", 0x65},
};

// `opcodes` as DISCOVER reports them, bit n for 0x60 + n. Returns the first feature whose opcode is not served, nullptr
// if there is none.
constexpr const FeatureRow* FeatureWithoutOpcode(uint64_t features, uint32_t opcodes) {
  for (const FeatureRow& row : kFeatures) {
    const bool is_served = row.opcode == 0 || (opcodes >> (row.opcode & 0x0F) & 1) != 0;
    if ((features >> row.bit & 1) != 0 && !is_served) return &row;
  }
  return nullptr;
}

// Version 1 shares SMBPBI's registers 5C to 5E; version 2 has registers of its own and a signature (word.h), and
// its streams have sections (sections.h).
enum class ExtensionVersion : uint8_t { kOne = 1, kTwo = 2 };

// Opcodes 0x60 to 0x6F.
constexpr bool IsExtension(Opcode opcode) { return static_cast<uint8_t>(opcode) >> 4 == 6; }

// Whether a version has the opcode: those above ACK exist in version 2 alone.
constexpr bool IsOpcodeOf(ExtensionVersion version, Opcode opcode) {
  return IsExtension(opcode) && (opcode <= Opcode::kAck || version == ExtensionVersion::kTwo);
}

inline constexpr uint8_t kWindowFirst = 0xD0;
inline constexpr uint8_t kWindowCount = 16;
inline constexpr uint8_t kWindowBytes = 255;
constexpr bool IsWindow(uint8_t code) { return code >= kWindowFirst && code - kWindowFirst < kWindowCount; }
// The number of bytes of a stream that one command opens.
constexpr uint32_t WindowSpanBytes(uint32_t window_bytes) { return uint32_t{kWindowCount} * window_bytes; }
// The maximum stream length; a controller rejects a device's longer stream.
inline constexpr uint32_t kStreamBytesMax = 64 << 20;

// The items of DISCOVER, in arg1.
//   kVersion: 5D = version 7:0, window bytes 15:8, window count 23:16;      5E = served opcodes, bit n for 0x60 + n
//   kLimits:  5D = memory blocks now;                                         5E = counters in each block
//   kBootId:  5D = boot id 31:0;                                              5E = boot id 63:32
//   kCatalog: 5D = catalogue stream's length in bytes;                        5E = catalogue hash
//   kFeatures: 5D = features 31:0, bit n for the Feature n;                   5E = features 63:32; only version 2
// Version 2 has C9 in place of 5D, and CA in place of 5E.
enum class DiscoverItem : uint8_t { kVersion = 0, kLimits = 1, kBootId = 2, kCatalog = 3, kFeatures = 4 };

// The framings of a version's streams.
constexpr Framing CatalogFraming(ExtensionVersion version) {
  return version == ExtensionVersion::kOne ? Framing::kPlain : Framing::kSections;
}
constexpr Framing SnapshotFraming(ExtensionVersion version) {
  return version == ExtensionVersion::kOne ? Framing::kDelta : Framing::kSections;
}

// CATALOG: 5D in = byte offset; 5D out = stream length, 5E out = catalogue hash (the CRC-32C of its payload).
// LATCH:   5D in = ID of the base, a snapshot that the controller holds; arg1 = bit 7 and the base's mark 6:0. Both are
//          0 for none. If the base is the latched snapshot, LATCH acknowledges it. A base whose ID and arg1 do not
//          match counts as none. 5D out = snapshot ID, 5E out = stream length. The latched blocks replace those latched
//          before. Data that has not changed since the base is omitted if the device holds the same base.
// READ:    arg1 = selector; 5D in = byte offset, 5E in = snapshot ID, or the scope (below); 5D out = stream length, 5E
//          out = snapshot ID. ERR_AGAIN if 5E is not the latched snapshot: it was superseded, latch again.
// ACK:     5D in = snapshot ID; arg1, arg2 = its mark 7:0 and 15:8. ERR_AGAIN as for READ, and if ID and mark do not
//          match. The controller holds the snapshot: later latches may be relative to it. Its retired blocks are freed.
//   kLatched: the stream that LATCH opened. kWhole: the same snapshot without a base. kVm: the blocks of one VM, whose
//   ID is in 5E 15:0. kContext: the block of one context, with the VM's ID in 5E 15:0 and the context's in 31:16. The
//   latter two do not name a snapshot; the stream's header does.
enum class ReadSelector : uint8_t { kLatched = 0, kWhole = 1, kVm = 2, kContext = 3 };

// PEEK, arg1 = step; only version 2, and only with its feature. Questions and answers are in peek.h.
//   kScope: C9 in = manager word; CA in = the VM's ID 15:0 and the context's 31:16.
//   kGo:    C9, CA in = bitmap; C9 out = stream length, CA out = the answer's tag. Latches the block's live counters
//   and
//           opens the stream, at offset 0. A scope holds for any number of GOs.
// ERR_NOT_AVAILABLE: GO without a scope. ERR_DATA: no such block, or the block does not have the events. ERR_AGAIN: the
// latch of the last GO is no longer there.
enum class PeekStep : uint8_t { kScope = 0, kGo = 1 };

// TRIGGER, arg1 = step; only version 2. A trigger swaps the banks of every unit that counts; nothing is flushed or
// latched, and no count is lost or doubled, however often it is repeated.
//   kOnce:  a trigger now; C9 out = its number.
//   kStart: further triggers at the multiples of a period, beside the pipeline's own, in place of an earlier START's;
//           C9, CA in = the period 31:0 and 63:32, in reference cycles; C9, CA out = the period that was taken, since
//           another controller may have written to them before the command. A dense grid raises trigger overruns:
//           triggers that wait for banks to drain.
//   kStop:  ends them, if there are any.
// The other steps need the feature of clock domains, of which a mask has a bit each (clocks.h). ONCE, START's triggers,
// LATCH and COMMIT leave packets; the pipeline's own periodic triggers do not.
//   kSelect:   C9, CA in = the domains 31:0 and 63:32 that answer ONCE and START's triggers; C9, CA out = the same.
//   kBookmark: C9 in = a VM's ID 15:0 and a context's 31:16, kNoContext for the VM itself; CA in = the bookmark; C9, CA
//              out = the request's reference time in ns, 31:0 and 63:32. Served at the next trigger of the grid; that
//              of VM 0 is the scheduler's, and in every reference packet until another replaces it.
//   kTimeline: C9 in = the first trigger, CA in = byte offset; arg2 = window bytes; C9 out = stream length, CA out =
//   the
//              newest trigger with packets. Offset 0 makes a new stream (clocks.h).
//   kHulls:    the same (clocks.h).
// ERR_DATA: the period is 0, or too short for the device; a domain that does not exist; there is no data at the offset.
// ERR_NOT_AVAILABLE: no such scope. ERR_AGAIN: the scope has a pending bookmark; an offset in the stream from another
// trigger on. ERR_NOT_SUPPORTED: a bookmark of a VM without a grid. ERR_OPCODE: these steps without the feature.
enum class TriggerStep : uint8_t {
  kOnce = 0,
  kStart = 1,
  kStop = 2,
  kSelect = 3,
  kBookmark = 4,
  kTimeline = 5,
  kHulls = 6
};

// CONFIG, arg1 = step; only version 2, and only with its feature. arg2 is the transaction's tag, which its controller
// draws from 1 to 255; 0 without a transaction (of DUMP: the window bytes). Words and addresses are in counting.h.
//   kBegin:   C9 in = the revision that the transaction builds on, CA in = the boot ID 31:0 of the catalogue that its
//             addresses are of, or 0; CA out = the device's boot ID 31:0. Replaces the controller's own transaction.
//   kAddress: C9, CA in = PackAddress and PackScope of the first word.
//   kWrite:   C9, CA in = the word 31:0 and 63:32, for the address, then the next index is addressed.
//   kRead:    C9, CA out = the word, then the next index is addressed. Needs no transaction.
//   kCommit:  C9 in = ConfigCrc of the writes, CA in = BEGIN's revision; C9 out = the revision in force, CA out = the
//   ID
//             of the closing snapshot. All writes, in ascending order of their addresses, or none.
//   kAbort:   ends the transaction, if there is one.
//   kDump:    C9 in = byte offset; C9 out = stream length, CA out = the revision. Offset 0 makes a new stream.
// ERR_AGAIN: another boot or revision, another controller's transaction, none (any more), or the last closing snapshot
// is not acknowledged. ERR_DATA: no such word, or a value that it cannot have.
enum class ConfigStep : uint8_t { kBegin = 0, kAddress = 1, kWrite = 2, kRead = 3, kCommit = 4, kAbort = 5, kDump = 6 };

// ROTATE, arg1 = step; only version 2, and only with its feature. A scope is a VM's ID 15:0 and a context's 31:16,
// kNoContext for the VM itself. Plans, requests and their bytes are in rotation.h.
//   kPlan:  C9 in = scope, CA in = byte offset; arg2 = window bytes; C9 out = stream length, CA out = the plan's
//   number.
//           Offset 0 makes a new stream, of the plan in force for the scope.
//   kApply: C9 in = the bytes in the upload buffer, CA in = their CRC-32C. They are a request, and the buffer is then
//           empty. It takes effect at each context's next residency. Repeated, it is answered again.
//   kLearn: C9 in = scope. Stores when the scope fluctuates, by its own time, for what it does from then on.
//   kPass:  C9 in = scope, CA in = the pass of profile kTwoSet that its next generation counts.
// The last three answer C9 and CA as they have taken them, since another controller may have written there before.
// ERR_DATA: no such scope, or what the device does not do. ERR_AGAIN: an offset in the stream of another scope; other
// bytes in the buffer than those, which are to be uploaded again.
enum class RotateStep : uint8_t { kPlan = 0, kApply = 1, kLearn = 2, kPass = 3 };

// SEAL, arg1 = step; only version 2, and only with its feature. The bytes of challenges, requests and answers are in
// proto/exchange. arg2 = window bytes of the steps with a stream.
//   kExchange:  C9 in = the bytes in the upload buffer, CA in = their CRC-32C; C9 out = stream length. They are a
//               request, and the buffer is then empty; CA out = the CRC. C9 in = 0: CA in = byte offset in the answer's
//               stream, which CA out repeats.
//   kEpoch:     C9 in = VM; C9 out = the VM's newest epoch, CA out = VM. It is a new one unless the last was unused, or
//               was begun on demand less than a second ago.
//   kStatus:    C9 in = VM; C9, CA out = the records sealed under the VM's keys so far, 31:0 and 63:32.
//   kChallenge: C9 in = VM; C9 out = stream length, CA out = VM: 32 bytes that the next request for it has to name.
// ERR_DATA: no such VM, one without an exchange, or one whose keys no guest is trusted with; a request that is refused,
// for whatever reason; an offset beyond the answer. ERR_AGAIN: other bytes in the buffer than those, which are to be
// uploaded again; too many challenges in too short a time; no epochs left; no answer to go on with.
enum class SealStep : uint8_t { kExchange = 0, kEpoch = 1, kStatus = 2, kChallenge = 3 };

// UPLOAD: arg2 = window bytes w (0: 255), C9 in = byte offset b; C9 out = b, CA out = kUploadBytesMax; only version 2.
// Block writes with PEC to 0xD0 + i then put bytes [b + i·w, b + (i+1)·w), or fewer, into the one upload buffer.
// Writing a window twice has the effect of once. ERR_DATA: b is beyond the buffer.
inline constexpr uint32_t kUploadBytesMax = 16 << 10;

// The mark identifies a snapshot in the command word of LATCH and ACK, besides the ID in 5D, so that no other snapshot
// is acknowledged. When the command is executed, 5D may have been overwritten by another controller's LATCH, or by this
// controller's own LATCH if it is repeated. A snapshot of another boot may also have the same ID.
constexpr uint16_t SnapshotMark(uint64_t boot_id, uint32_t snapshot_id) {
  return static_cast<uint16_t>(boot_id ^ snapshot_id);
}

// arg1 of a LATCH with a base. Never 0, which is arg1 of a LATCH without a base.
constexpr uint8_t LatchMark(uint64_t boot_id, uint32_t base_id) {
  return static_cast<uint8_t>(0x80 | (SnapshotMark(boot_id, base_id) & 0x7F));
}

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_EXTENSION_H_
