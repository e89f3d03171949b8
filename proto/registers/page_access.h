// SPDX-License-Identifier: Apache-2.0
//
// An access to a register page: what guests ask for, and what a device performs (registers.md, "Registers").
//   hpc::PageAccess access = hpc::ReadOf(hpc::kHpccOffset, 8);
//   if (hpc::IsInPage(access)) access.value = 0;
#ifndef SIDEBAND_PROTO_REGISTERS_PAGE_ACCESS_H_
#define SIDEBAND_PROTO_REGISTERS_PAGE_ACCESS_H_

#include <cstdint>

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

}  // namespace sideband::hpc

#endif  // SIDEBAND_PROTO_REGISTERS_PAGE_ACCESS_H_
