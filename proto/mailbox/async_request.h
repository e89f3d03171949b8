// SPDX-License-Identifier: Apache-2.0
//
// SMBPBI's asynchronous requests (opcode 0x10): its types, and their final statuses. The numbers are those of
// NVIDIA's public smbpbi.h (open-gpu-kernel-modules, MIT).
//   ASYNC_REQUEST type, dword d → ACCEPTED, 5D 7:0 = request id
//   ASYNC_REQUEST FF, request id → SUCCESS, 5D 7:0 = AsyncStatus; the result is in scratch memory from dword d on
#ifndef SIDEBAND_PROTO_MAILBOX_ASYNC_REQUEST_H_
#define SIDEBAND_PROTO_MAILBOX_ASYNC_REQUEST_H_

#include <cstddef>
#include <cstdint>

namespace sideband::mailbox {

// The parameters and the result of a request are at the same place in scratch memory, as little-endian words.
enum class AsyncType : uint8_t {
  kGetPowerLimit = 0x00,    // flags, what was asked for (kNoLimit: nothing), what is in force: milliwatts
  kSetPowerLimit = 0x01,    // the same, as parameters
  kPowerLimitInfo = 0x02,   // least, most, default: milliwatts
  kFanCount = 0x03,         // u32
  kEnergy = 0x08,           // u64 millijoules
  kViolations = 0x09,       // mask, padding, u64 [32] from byte 8 on, by Violation
  kUtilization = 0x0A,      // u32 of the GPU, u32 of its memory: percent
  kGetClockLimit = 0x0D,    // u16: asked for least and most, in force least and most: MHz (kNoClockLimit: none)
  kGetModuleLimit = 0x12,   // as kGetPowerLimit
  kSetModuleLimit = 0x13,   // as kSetPowerLimit
  kModuleLimitInfo = 0x14,  // as kPowerLimitInfo
  kMemoryCapacity = 0x15,   // u32 reserved, u32 used: MiB
  kPoll = 0xFF,
};
// The last type of SMBPBI, except kPoll.
inline constexpr uint8_t kAsyncTypeMax = 0x15;

// Bits of the flags of power limits.
inline constexpr uint32_t kLimitPersists = 1 << 0, kLimitClears = 1 << 1;
inline constexpr uint32_t kNoLimit = 0xFFFF'FFFF;
inline constexpr uint16_t kNoClockLimit = 0xFFFF;

enum class Violation : uint8_t { kHardware = 0, kSoftware = 1, kSoftwarePower = 2, kSoftwareThermal = 3 };
inline constexpr size_t kViolationCount = 4;
inline constexpr size_t kViolationSlots = 32;
inline constexpr uint32_t kAllViolations = 0xFFFF'FFFF;  // as a mask

enum class AsyncStatus : uint8_t {
  kSuccess = 0x00,
  kInvalidArgument = 0x08,
  kInvalidCommand = 0x0D,
  kInvalidLimit = 0x16,
  kInvalidOffset = 0x1E,
  kNotSupported = 0x29,
  kMoreProcessing = 0x31,
  kTimeoutRetry = 0x33,
  kNotReady = 0x34,
  kInReset = 0x36,
  kBusyRetry = 0x41,
};

// Whether a request with this status is to be polled again, as public clients do.
constexpr bool IsUnfinished(AsyncStatus status) {
  return status == AsyncStatus::kMoreProcessing || status == AsyncStatus::kTimeoutRetry ||
         status == AsyncStatus::kNotReady || status == AsyncStatus::kInReset || status == AsyncStatus::kBusyRetry;
}

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_ASYNC_REQUEST_H_
