// SPDX-License-Identifier: Apache-2.0
//
// The command/status word of SMBPBI and its codes. Field positions, opcodes and status codes are those of NVIDIA's
// public smbpbi.h (open-gpu-kernel-modules, MIT); opcodes 0x60 and above are our own (README.md).
//   const uint32_t request = CommandWord{.opcode = Opcode::kGetTemp, .execute = true}.Encode();    // 0x80000002
//   const CommandWord reply = CommandWord::Decode(status_register);
//   const bool is_done = !reply.execute && reply.status == MailboxStatus::kSuccess;
#ifndef SIDEBAND_PROTO_MAILBOX_WORD_H_
#define SIDEBAND_PROTO_MAILBOX_WORD_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "proto/base/bytes.h"

namespace sideband::mailbox {

// SMBus command codes of the three 32-bit registers. Each is a block with count byte 4 and 4 bytes, least significant
// first.
inline constexpr uint8_t kCommandRegister = 0x5C;
inline constexpr uint8_t kDataRegister = 0x5D;
inline constexpr uint8_t kExtendedDataRegister = 0x5E;
inline constexpr uint8_t kRegisterBytes = 4;
// Command codes of the vendor ID's two bytes, each read as one byte.
inline constexpr uint8_t kVendorIdLowRegister = 0x62;
inline constexpr uint8_t kVendorIdHighRegister = 0x63;
// "SB": self-assigned, not registered.
inline constexpr uint16_t kVendorId = 0x4253;

// The opcodes that are served. A word may carry any other value. kOpcodes has a row for each.
enum class Opcode : uint8_t {
  kNull = 0x00,
  kGetCapabilities = 0x01,     // arg1: dword 0-5
  kGetTemp = 0x02,             // arg1: sensor; s24.8 degrees Celsius, fraction 0
  kGetExtTemp = 0x03,          // arg1: sensor; s24.8 degrees Celsius
  kGetPower = 0x04,            // arg1: source; milliwatts
  kGetSysId = 0x05,            // arg1: item; arg2: offset in dwords
  kGetEccV2 = 0x07,            // memory_links.h
  kGetEccV3 = 0x0C,            // the same
  kScratchRead = 0x0D,         // arg1: dword of the source page
  kScratchWrite = 0x0E,        // arg1: dword of the destination page; arg2: number of dwords less one
  kScratchCopy = 0x0F,         // as kScratchWrite; data-in: dword of the source page
  kAsyncRequest = 0x10,        // arg1: type (services.h), or FF to poll; arg2: dword for the result, or request id
  kRegisterAccess = 0x11,      // arg1: 0 write, 1 read; arg2: register
  kGetPowerConnector = 0x12,   // bit 0: its power is insufficient
  kGetRetiredPages = 0x13,     // pages retired for single-bit errors 7:0, for double-bit errors 15:8
  kGetEccV4 = 0x14,            // memory_links.h
  kGetThermParam = 0x15,       // arg1: parameter; s24.8 degrees Celsius
  kGetEccV5 = 0x16,            // memory_links.h
  kAccessWriteProtect = 0x17,  // arg1: 0 get, 1 set; arg2 of set, and the answer of get: 5A disabled, A5 enabled
  kGetMiscFlags = 0x18,        // arg1: page
  kGetNvlinkInfo = 0x1A,       // memory_links.h
  kGetClock = 0x1B,            // arg1: a ClockItem (board_items.h); arg2: 0 graphics clock, 1 memory clock
  kLaunchBundle = 0x1C,        // services.h
  kGetDriverEvent = 0x1D,      // services.h
  kGetEccV6 = 0x1E,            // memory_links.h
  kGetRowRemap = 0x20,         // memory_links.h
  kGetPcieLink = 0x21,         // memory_links.h
  kGetEnergy = 0x22,           // arg1: source; millijoules, high half in extended data
  kGetPowerHint = 0x26,        // arg1: 0 clocks, 1 temperature, 2 profiles; arg2: clock, or page
  kGetSystemInfo = 0x27,       // arg1: 0 version of the driver; arg2: offset in dwords
  // board_items.h
  kPerformanceMonitoring = 0x28,
  // The snapshot extension, see extension.h.
  kDiscover = 0x60,
  kCatalog = 0x61,
  kLatch = 0x62,
  kRead = 0x63,
  kAck = 0x64,
  kSeal = 0x65,
  kTrigger = 0x66,
  kPeek = 0x67,
  kConfig = 0x68,
  kRotate = 0x69,
  kUpload = 0x6A,
};

struct OpcodeRow {
  Opcode opcode;
  const char* name;
  bool takes_arg1;
  bool takes_arg2;
};
inline constexpr OpcodeRow kOpcodes[] = {
    {Opcode::kNull, "NULL", false, false},
    {Opcode::kGetCapabilities, "GET_CAPABILITIES", true, false},
    {Opcode::kGetTemp, "GET_TEMP", true, false},
    {Opcode::kGetExtTemp, "GET_EXT_TEMP", true, false},
    {Opcode::kGetPower, "GET_POWER", true, false},
    {Opcode::kGetSysId, "GET_SYS_ID", true, true},
    {Opcode::kGetEccV2, "GET_ECC_V2", true, true},
    {Opcode::kGetEccV3, "GET_ECC_V3", true, true},
    {Opcode::kScratchRead, "SCRATCH_READ", true, false},
    {Opcode::kScratchWrite, "SCRATCH_WRITE", true, true},
    {Opcode::kScratchCopy, "SCRATCH_COPY", true, true},
    {Opcode::kAsyncRequest, "ASYNC_REQUEST", true, true},
    {Opcode::kRegisterAccess, "REGISTER_ACCESS", true, true},
    {Opcode::kGetPowerConnector, "GET_POWER_CONNECTOR_STATE", false, false},
    {Opcode::kGetRetiredPages, "GET_PAGE_RETIREMENT_STATS", false, false},
    {Opcode::kGetEccV4, "GET_ECC_V4", true, true},
    {Opcode::kGetThermParam, "GET_THERM_PARAM", true, false},
    {Opcode::kGetEccV5, "GET_ECC_V5", true, true},
    {Opcode::kAccessWriteProtect, "ACCESS_WP_MODE", true, true},
    {Opcode::kGetMiscFlags, "GET_MISC_FLAGS", true, false},
    {Opcode::kGetNvlinkInfo, "GET_NVLINK_INFO", true, true},
    {Opcode::kGetClock, "GET_CLOCK_FREQ_INFO", true, true},
    {Opcode::kLaunchBundle, "BUNDLE_LAUNCH", true, true},
    {Opcode::kGetDriverEvent, "GET_DRIVER_EVENT_MSG", true, true},
    {Opcode::kGetEccV6, "GET_ECC_V6", true, true},
    {Opcode::kGetRowRemap, "REMAP_ROW_STATS", true, true},
    {Opcode::kGetPcieLink, "GET_PCIE_LINK_INFO", true, true},
    {Opcode::kGetEnergy, "GET_ENERGY_COUNTER", true, false},
    {Opcode::kGetPowerHint, "GET_POWER_HINT_INFO", true, true},
    {Opcode::kGetSystemInfo, "DYNAMIC_SYSTEM_INFORMATION", true, true},
    {Opcode::kPerformanceMonitoring, "GPU_PERFORMANCE_MONITORING", true, true},
    {Opcode::kDiscover, "DISCOVER", true, false},
    {Opcode::kCatalog, "CATALOG", false, true},
    {Opcode::kLatch, "LATCH", true, true},
    {Opcode::kRead, "READ", true, true},
    {Opcode::kAck, "ACK", true, true},
    {Opcode::kSeal, "SEAL", true, true},
    {Opcode::kTrigger, "TRIGGER", true, true},
    {Opcode::kPeek, "PEEK", true, true},
    {Opcode::kConfig, "CONFIG", true, true},
    {Opcode::kRotate, "ROTATE", true, true},
    {Opcode::kUpload, "UPLOAD", true, true},
};

// Bits 28:24 of the word. The numbers are on the wire. kStatuses has a row for each.
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

struct StatusRow {
  MailboxStatus status;
  const char* name;
};
inline constexpr StatusRow kStatuses[] = {
    {MailboxStatus::kNull, "NULL"},
    {MailboxStatus::kErrRequest, "ERR_REQUEST"},
    {MailboxStatus::kErrOpcode, "ERR_OPCODE"},
    {MailboxStatus::kErrArg1, "ERR_ARG1"},
    {MailboxStatus::kErrArg2, "ERR_ARG2"},
    {MailboxStatus::kErrData, "ERR_DATA"},
    {MailboxStatus::kErrMisc, "ERR_MISC"},
    {MailboxStatus::kErrI2cAccess, "ERR_I2C_ACCESS"},
    {MailboxStatus::kErrNotSupported, "ERR_NOT_SUPPORTED"},
    {MailboxStatus::kErrNotAvailable, "ERR_NOT_AVAILABLE"},
    {MailboxStatus::kErrBusy, "ERR_BUSY"},
    {MailboxStatus::kErrAgain, "ERR_AGAIN"},
    {MailboxStatus::kErrSensorData, "ERR_SENSOR_DATA"},
    {MailboxStatus::kErrDisposition, "ERR_DISPOSITION"},
    {MailboxStatus::kPartialFailure, "PARTIAL_FAILURE"},
    {MailboxStatus::kAccepted, "ACCEPTED"},
    {MailboxStatus::kInactive, "INACTIVE"},
    {MailboxStatus::kReady, "READY"},
    {MailboxStatus::kSuccess, "SUCCESS"},
};

// nullptr for an opcode that is not served.
const OpcodeRow* FindOpcode(Opcode opcode);
// "SUCCESS", "ERR_OPCODE", …; "UNKNOWN" for a number without a row.
absl::string_view StatusName(MailboxStatus status);
// "GET_TEMP", "LATCH", …; "UNKNOWN" likewise.
absl::string_view OpcodeName(Opcode opcode);

// The decoded word. Bit 29 is `reserved`. Bit 30 requests COPY_DATA in a request and means EVENT_PENDING in a reply.
// Bit 31 executes a request and means "busy" in a reply.
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

// The content of the status register before the first command.
inline constexpr uint32_t kBootWord = 0x1E000000;

// The mailbox's sets of registers, and the signature that announces the second set. (mailbox.md, "Version 2".)
// The command codes of a mailbox's command/status, data and extended data registers.
struct RegisterSet {
  uint8_t command;
  uint8_t data;
  uint8_t extended_data;

  constexpr bool Has(uint8_t code) const { return code == command || code == data || code == extended_data; }
  bool operator==(const RegisterSet&) const = default;
};

// SMBPBI's registers, which all clients of a board share without a lock.
inline constexpr RegisterSet kSharedRegisters = {kCommandRegister, kDataRegister, kExtendedDataRegister};
// The registers of the extension's version 2, always with PEC. They share no state with the others.
inline constexpr RegisterSet kOwnRegisters = {0xC8, 0xC9, 0xCA};

// A read-only block: "SBND", the extension's version, three zeros. It exists from version 2 on; reading it changes
// nothing, so a controller reads it before it writes to a device for the first time.
inline constexpr uint8_t kSignatureRegister = 0xCF;
inline constexpr size_t kSignatureBytes = 8;

constexpr std::array<uint8_t, kSignatureBytes> Signature(uint8_t version) {
  return {'S', 'B', 'N', 'D', version, 0, 0, 0};
}

// The version in a signature; nullopt if the bytes are not a signature.
constexpr std::optional<uint8_t> VersionOfSignature(ByteSpan block) {
  if (block.size() != kSignatureBytes) return std::nullopt;
  const auto expected = Signature(block[4]);
  return std::equal(block.begin(), block.end(), expected.begin()) ? std::optional(block[4]) : std::nullopt;
}

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_WORD_H_
