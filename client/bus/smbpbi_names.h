// SPDX-License-Identifier: Apache-2.0
//
// Names of the numbers in SMBPBI words. The numbers are those of NVIDIA's public smbpbi.h (open-gpu-kernel-modules,
// MIT); the names are our own wording. proto/mailbox has the names of the mailbox's extension. Numbers without a name
// are shown as numbers.
//   SensorName(0)   // "GPU0"
#ifndef SIDEBAND_CLIENT_BUS_SMBPBI_NAMES_H_
#define SIDEBAND_CLIENT_BUS_SMBPBI_NAMES_H_

#include <cstdint>
#include <string>

namespace sideband::client {

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

// The set bits, as names: "temp GPU0, power total". Bits without a name are "bit 9"; an empty set is "none".
std::string CapabilityText(uint8_t dword, uint32_t bits);
std::string EventBitsText(uint32_t bits);
std::string FlagBitsText(uint8_t page, uint32_t bits);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_SMBPBI_NAMES_H_
