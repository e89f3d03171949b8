// SPDX-License-Identifier: Apache-2.0
//
// The command/status word of SMBPBI and the numbers that go into it. Field positions, opcodes and status codes are
// those of NVIDIA's public smbpbi.h (open-gpu-kernel-modules, MIT); opcodes 0x60 and above are ours (README.md).
//   const uint32_t request = CommandWord{.opcode = Opcode::kGetTemp, .execute = true}.Encode();    // 0x80000002
//   const CommandWord reply = CommandWord::Decode(status_register);
//   if (!reply.execute && reply.status == MailboxStatus::kSuccess) …
#ifndef SIDEBAND_PROTO_MAILBOX_WORD_H_
#define SIDEBAND_PROTO_MAILBOX_WORD_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace sideband::mailbox {

// SMBus command codes of the three 32-bit registers, each a block of count byte 4 and 4 bytes, least significant first.
inline constexpr uint8_t kCommandRegister = 0x5C;
inline constexpr uint8_t kDataRegister = 0x5D;
inline constexpr uint8_t kExtendedDataRegister = 0x5E;
inline constexpr uint8_t kRegisterBytes = 4;
// And of the vendor id's two bytes, each read as one byte.
inline constexpr uint8_t kVendorIdLowRegister = 0x62;
inline constexpr uint8_t kVendorIdHighRegister = 0x63;
// "SB": our own, which is in no registry.
inline constexpr uint16_t kVendorId = 0x4253;

// The opcodes that are served. A word may carry any other value.
enum class Opcode : uint8_t {
  kNull = 0x00,
  kGetCapabilities = 0x01,  // arg1: dword 0-5
  kGetTemp = 0x02,          // arg1: sensor; s24.8 degrees Celsius, fraction 0
  kGetExtTemp = 0x03,       // arg1: sensor; s24.8 degrees Celsius
  kGetPower = 0x04,         // arg1: source; milliwatts
  kGetSysId = 0x05,         // arg1: item; arg2: offset in dwords
  kScratchRead = 0x0D,      // arg1: dword of the source page
  kScratchWrite = 0x0E,     // arg1: dword of the destination page; arg2: how many, less one
  kScratchCopy = 0x0F,      // the same; data-in: dword of the source page
  kAsyncRequest = 0x10,     // arg1: type (async_request.h), or FF to poll; arg2: dword for the result, or request id
  kRegisterAccess = 0x11,   // arg1: 0 write, 1 read; arg2: register
  kGetMiscFlags = 0x18,     // arg1: page
  kGetClock = 0x1B,         // arg1: 0 current, 1 least, 2 most; arg2: 0 graphics clock, 1 memory clock; MHz
  kGetEnergy = 0x22,        // arg1: source; millijoules, high half in extended data
  kGetSystemInfo = 0x27,    // arg1: 0 version of the driver; arg2: offset in dwords
  // performance_metric.h
  kPerformanceMonitoring = 0x28,
  // The snapshot extension, see extension.h.
  kDiscover = 0x60,
  kCatalog = 0x61,
  kLatch = 0x62,
  kRead = 0x63,
  kAck = 0x64,
};

// Bits 28:24 of the word. The numbers are on the wire.
enum class MailboxStatus : uint8_t {
  kNull = 0x00,
  kErrRequest = 0x01,
  kErrOpcode = 0x02,
  kErrArg1 = 0x03,
  kErrArg2 = 0x04,
  kErrData = 0x05,
  kErrMisc = 0x06,
  kErrI2cAccess = 0x07,
  kErrNotSupported = 0x08,
  kErrNotAvailable = 0x09,
  kErrBusy = 0x0A,
  kErrAgain = 0x0B,
  kErrSensorData = 0x0C,
  kErrDisposition = 0x0D,
  kPartialFailure = 0x1B,
  kAccepted = 0x1C,
  kInactive = 0x1D,
  kReady = 0x1E,
  kSuccess = 0x1F,
};

// "SUCCESS", "ERR_OPCODE", …; "UNKNOWN" for a number without a name.
absl::string_view StatusName(MailboxStatus status);
// "GET_TEMP", "LATCH", …; "UNKNOWN" likewise.
absl::string_view OpcodeName(Opcode opcode);

// The word taken apart. Bit 29 is `reserved`; bit 30 asks for COPY_DATA in a request and says EVENT_PENDING in a reply;
// bit 31 executes a request and says "busy" in a reply.
struct CommandWord {
  Opcode opcode = Opcode::kNull;
  uint8_t arg1 = 0;
  uint8_t arg2 = 0;
  MailboxStatus status = MailboxStatus::kNull;
  bool reserved = false;
  bool copy_data = false;
  bool execute = false;

  uint32_t Encode() const;
  static CommandWord Decode(uint32_t word);
  bool operator==(const CommandWord&) const = default;
};

// What the status register holds before the first command.
inline constexpr uint32_t kBootWord = 0x1E000000;

// Items of kGetSysId that are served.
enum class SysId : uint8_t {
  kBoardPartNumber = 0x00,
  kSerialNumber = 0x02,
  kFirmwareVersion = 0x08,
  kVendorId = 0x09,
  kDeviceId = 0x0A,
  kGuid = 0x0D,
};
// The last item that SMBPBI knows.
inline constexpr uint8_t kSysIdMax = 0x17;

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_WORD_H_
