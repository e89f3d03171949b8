// SPDX-License-Identifier: Apache-2.0
//
// SMBPBI's asynchronous requests (opcode 0x10), bundles of requests (0x1C) and messages of the driver (0x1D). The
// numbers are those of NVIDIA's public smbpbi.h (open-gpu-kernel-modules, MIT).
//   ASYNC_REQUEST type, dword d → ACCEPTED, 5D 7:0 = request id
//   ASYNC_REQUEST FF, request id → SUCCESS, 5D 7:0 = AsyncStatus; the result is in scratch memory from dword d on
#ifndef SIDEBAND_PROTO_MAILBOX_SERVICES_H_
#define SIDEBAND_PROTO_MAILBOX_SERVICES_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "proto/base/bytes.h"

namespace sideband::mailbox {

// BUNDLE_LAUNCH: several requests in scratch memory, executed by one command, whose rules pack parts of their results
// into the reply's own registers. The numbers are those of NVIDIA's public smbpbi.h (open-gpu-kernel-modules, MIT;
// docs/design/smbpbi-facts.md, 3.10). That the rules follow the requests is our own definition.
//
//   BUNDLE_LAUNCH, arg1 = requests 3:0, rules 7:4; arg2 = dword d of the destination page
//   dwords d + 4 · i …: command, data-in, data-out, extended data of request i; then a dword for each rule
inline constexpr size_t kBundleRequestsMax = 4;
inline constexpr size_t kBundleRulesMax = 10;
inline constexpr size_t kBundleRequestDwords = 4;
// A bit of a request's command: a failure ends the bundle. After its execution the dword has the status.
inline constexpr uint32_t kBundleStops = uint32_t{1} << 31;

enum class BundleField : uint8_t { kStatus = 0, kData = 1, kExtendedData = 2 };

// Copies `width` bits of a request's result, from bit `from` on, to bit `to` of a register of the reply.
struct BundleRule {
  uint8_t request = 0;
  BundleField source = BundleField::kData;
  uint8_t from = 0;
  uint8_t width = 0;  // 1 to 31; 0 is 32
  BundleField destination = BundleField::kData;
  uint8_t to = 0;

  constexpr uint32_t Encode() const {
    return (request & 7u) | static_cast<uint32_t>(source) << 3 | (from & 31u) << 5 | (width & 31u) << 10 |
           static_cast<uint32_t>(destination) << 15 | (to & 31u) << 17;
  }
  static constexpr BundleRule Decode(uint32_t dword) {
    return {.request = static_cast<uint8_t>(dword & 7),
            .source = static_cast<BundleField>(dword >> 3 & 3),
            .from = static_cast<uint8_t>(dword >> 5 & 31),
            .width = static_cast<uint8_t>(dword >> 10 & 31),
            .destination = static_cast<BundleField>(dword >> 15 & 3),
            .to = static_cast<uint8_t>(dword >> 17 & 31)};
  }
  bool operator==(const BundleRule&) const = default;
};

// GET_DRIVER_EVENT_MSG: messages of the driver, such as an Xid with its text, which the device keeps in order until
// they are read. The layout and the numbers are those of NVIDIA's public smbpbi.h (open-gpu-kernel-modules, MIT;
// docs/design/smbpbi-facts.md, 3.9).
// arg1 is a DriverEventStep and arg2 a dword of scratch memory, from which on the record is then; 5D has its bytes.
// A read record is dropped. The other two name, in data-in, the first sequence number or time of what is to be read.
enum class DriverEventStep : uint8_t { kOldest = 0, kBySequence = 1, kByTime = 2 };

struct DriverEvent {
  static constexpr size_t kHeaderBytes = 12;
  static constexpr size_t kTextBytesMax = 80;  // with the terminating zero
  static constexpr size_t kBytesMax = kHeaderBytes + kTextBytesMax;

  uint16_t xid = 0;
  bool later_lost = false;  // records after this one were dropped for want of room
  bool text_truncated = false;
  uint32_t sequence = 0;
  uint32_t time_s = 0;  // since the epoch of 1970
  std::string text;     // without zeros

  // A multiple of four bytes, at most kBytesMax: a longer text is truncated, which the record says.
  Bytes Encode() const;
  // `bytes` may go on after the record. INVALID_ARGUMENT: a record of an impossible size, or one that is cut off.
  // Characters that cannot be printed are replaced by '?'.
  static absl::StatusOr<DriverEvent> Decode(ByteSpan bytes);
  bool operator==(const DriverEvent&) const = default;
};

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

#endif  // SIDEBAND_PROTO_MAILBOX_SERVICES_H_
