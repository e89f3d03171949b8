// SPDX-License-Identifier: Apache-2.0
//
// What the numbers in SMBPBI words are called. They are those of NVIDIA's public smbpbi.h (open-gpu-kernel-modules,
// MIT) in our own words; the mailbox's extension has its names in proto/mailbox. Whatever has no name is shown as a
// number.
//   SensorName(0)   // "GPU0"
#ifndef SIDEBAND_CLIENT_BUS_SMBPBI_NAMES_H_
#define SIDEBAND_CLIENT_BUS_SMBPBI_NAMES_H_

#include <cstdint>
#include <string>

namespace sideband::client {

// Opcodes that are told apart here, besides those of mailbox::Opcode.
enum SmbpbiOpcode : uint8_t {
  kOpCapabilities = 0x01,
  kOpTemperature = 0x02,
  kOpExtTemperature = 0x03,
  kOpPower = 0x04,
  kOpSysId = 0x05,
  kOpScratchRead = 0x0D,
  kOpScratchWrite = 0x0E,
  kOpScratchCopy = 0x0F,
  kOpAsync = 0x10,
  kOpRegister = 0x11,
  kOpThermParam = 0x15,
  kOpFlags = 0x18,
  kOpClock = 0x1B,
  kOpEnergy = 0x22,
  kOpDynamicInfo = 0x27,
  kOpPerformance = 0x28,
  kOpDiscover = 0x60,
  kOpCatalog = 0x61,
  kOpLatch = 0x62,
  kOpRead = 0x63,
  kOpAck = 0x64,
};

std::string OpcodeText(uint8_t opcode);
std::string SensorName(uint8_t sensor);
std::string PowerSourceName(uint8_t source);
std::string AsyncTypeName(uint8_t type);
std::string RegisterName(uint8_t index);
std::string ThermParamName(uint8_t param);
std::string GpmMetricName(uint8_t metric);
std::string ClockItemName(uint8_t item);

enum class SysIdFormat { kText, kBytes, kNumber };
struct SysIdItem {
  std::string name;
  SysIdFormat format = SysIdFormat::kBytes;
};
SysIdItem SysIdItemOf(uint8_t item);

// The bits that are set, as names: "temp GPU0, power total". Bits without a name are "bit 9"; none is "none".
std::string CapabilityText(uint8_t dword, uint32_t bits);
std::string EventBitsText(uint32_t bits);
std::string FlagBitsText(uint8_t page, uint32_t bits);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_SMBPBI_NAMES_H_
