// SPDX-License-Identifier: Apache-2.0
//
// An access to a register page, which guests ask for and a device performs (registers.md, "Registers"), and a guest
// port: a page on a Unix stream socket, in place of a page of memory (registers.md, "Guest ports"). The guest sends
// frames, and receives an answer for each, in order; it may send several at once.
//
//  frame   u8 op (1 read, 2 write) · u8 size (4, 8) · u16 offset · u64 value        12 bytes, little-endian
//  answer  u8 status (0 done, 1 not running) · u64 value                             9 bytes
//
// "Not running" stands for the time in which a guest cannot execute an access at all: its VM or context is not resident
// on the page's slice, or another connection to the same client has its turn. Nothing was done; the guest repeats the
// frame. A frame that is no access to the page ends the connection. The value of a read, and the high half of a write
// of 4 bytes, are ignored; the value that answers a write is 0.
//
// Example: a write of 5 to hpcm, 8 bytes:
//  02 08 08 00 05 00 00 00 00 00 00 00 → 00 00 00 00 00 00 00 00 00
//
//   const hpc::PageAccess write = hpc::WriteOf(hpc::kHpcmOffset, 8, 0b101);
//   ByteWriter out;
//   if (hpc::IsInPage(write)) hpc::AppendFrame(write, out);
//   SIDEBAND_ASSIGN_OR_RETURN(const hpc::PageAccess access, hpc::DecodeFrame(out.written()));
#ifndef SIDEBAND_PROTO_REGISTERS_GUEST_PORT_H_
#define SIDEBAND_PROTO_REGISTERS_GUEST_PORT_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/registers/hpc_registers.h"

namespace sideband::hpc {

enum class AccessKind : uint8_t { kRead = 1, kWrite = 2 };

struct PageAccess {
  AccessKind kind = AccessKind::kRead;
  uint8_t size = 8;     // bytes: 4 or 8
  uint16_t offset = 0;  // from the page's start, a multiple of `size`
  uint64_t value = 0;   // to write, or as read; of 4 bytes: the low half
  bool operator==(const PageAccess&) const = default;
};

inline PageAccess ReadOf(uint16_t offset, uint8_t size) { return {AccessKind::kRead, size, offset, 0}; }
inline PageAccess WriteOf(uint16_t offset, uint8_t size, uint64_t value) {
  return {AccessKind::kWrite, size, offset, value};
}

// Whether size, alignment and offset are those of an access to a page.
inline bool IsInPage(const PageAccess& access) {
  return (access.size == 4 || access.size == 8) && access.offset % access.size == 0 &&
         uint32_t{access.offset} + access.size <= kPageBytes;
}

inline constexpr size_t kFrameBytes = 12;
inline constexpr size_t kAnswerBytes = 9;

void AppendFrame(const PageAccess& access, ByteWriter& out);
// `frame` has kFrameBytes. INVALID_ARGUMENT if it is no access to a page.
absl::StatusOr<PageAccess> DecodeFrame(ByteSpan frame);

// nullopt: not running.
void AppendAnswer(std::optional<uint64_t> value, ByteWriter& out);
// `answer` has kAnswerBytes. INVALID_ARGUMENT for an unknown status.
absl::StatusOr<std::optional<uint64_t>> DecodeAnswer(ByteSpan answer);

}  // namespace sideband::hpc

#endif  // SIDEBAND_PROTO_REGISTERS_GUEST_PORT_H_
