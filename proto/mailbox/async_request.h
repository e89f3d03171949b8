// SPDX-License-Identifier: Apache-2.0
//
// SMBPBI's asynchronous requests (opcode 0x10): the served types and the final statuses. The numbers are those of
// NVIDIA's public smbpbi.h (open-gpu-kernel-modules, MIT).
//   ASYNC_REQUEST type, dword d → ACCEPTED, 5D 7:0 = request id
//   ASYNC_REQUEST FF, request id → SUCCESS, 5D 7:0 = AsyncStatus; the result is in scratch memory from dword d on
#ifndef SIDEBAND_PROTO_MAILBOX_ASYNC_REQUEST_H_
#define SIDEBAND_PROTO_MAILBOX_ASYNC_REQUEST_H_

#include <cstdint>

namespace sideband::mailbox {

enum class AsyncType : uint8_t {
  kEnergy = 0x08,          // u64 millijoules
  kUtilization = 0x0A,     // u32 of the GPU, u32 of its memory: percent
  kMemoryCapacity = 0x15,  // u32 reserved, u32 used: MiB
  kPoll = 0xFF,
};
// The last type of SMBPBI, except kPoll.
inline constexpr uint8_t kAsyncTypeMax = 0x15;

enum class AsyncStatus : uint8_t {
  kSuccess = 0x00,
  kInvalidCommand = 0x0D,
  kInvalidOffset = 0x1E,
  kNotSupported = 0x29,
  kNotReady = 0x34,
};

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_ASYNC_REQUEST_H_
