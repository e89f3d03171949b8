// SPDX-License-Identifier: Apache-2.0
//
// Names of the numbers in SMBPBI words, from the tables of proto/mailbox. Opcodes, asynchronous requests and registers
// that have no name there have theirs here; the numbers are those of NVIDIA's public smbpbi.h (open-gpu-kernel-modules,
// MIT), the names are our own wording. Numbers without a name are shown as numbers.
//   SensorName(0);   // "GPU0"
#ifndef SIDEBAND_CLIENT_BUS_SMBPBI_NAMES_H_
#define SIDEBAND_CLIENT_BUS_SMBPBI_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace sideband::client {

// The number and name of a row that is an enumerator and a name, and perhaps a word for Prometheus and a capability.
template <typename Row>
std::pair<uint32_t, const char*> NumberAndName(const Row& row) {
  if constexpr (requires { row.capability; }) {
    const auto& [item, name, word, capability] = row;
    return {static_cast<uint32_t>(item), name};
  } else if constexpr (requires { row.word; }) {
    const auto& [item, name, word] = row;
    return {static_cast<uint32_t>(item), name};
  } else {
    const auto& [item, name] = row;
    return {static_cast<uint32_t>(item), name};
  }
}

// The name of `number` in a table of such rows; nullptr without a row.
template <typename Row, size_t kRows>
const char* FindName(const Row (&rows)[kRows], uint32_t number) {
  for (const Row& row : rows) {
    const auto [item, name] = NumberAndName(row);
    if (item == number) return name;
  }
  return nullptr;
}

// The same; without a row, `kind` and the number: "sensor 0x09".
template <typename Row, size_t kRows>
std::string NameIn(const Row (&rows)[kRows], uint8_t number, absl::string_view kind) {
  const char* const name = FindName(rows, number);
  return name != nullptr ? name : absl::StrFormat("%s 0x%02X", kind, number);
}

std::string OpcodeText(uint8_t opcode);
std::string SensorName(uint8_t sensor);
std::string PowerSourceName(uint8_t source);
std::string AsyncTypeName(uint8_t type);
std::string AsyncStatusName(uint8_t status);
std::string RegisterName(uint8_t index);
std::string ThermParamName(uint8_t param);
std::string GpmMetricName(uint8_t metric);
std::string ClockItemName(uint8_t item);
std::string SysIdName(uint8_t item);

// The set bits, as names: "temp GPU0, power total". Bits without a name are "bit 9"; an empty set is "none".
std::string CapabilityText(uint8_t dword, uint32_t bits);
std::string EventBitsText(uint32_t bits);
std::string ThrottleReasonsText(uint32_t bits);
std::string FlagBitsText(uint8_t page, uint32_t bits);
std::string RemapFlagsText(uint32_t bits);
std::string EccFlagsText(uint32_t bits);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_SMBPBI_NAMES_H_
