// SPDX-License-Identifier: Apache-2.0
//
// Numbers of a trace as text: values of registers, without regard to the command that they belong to, and the names of
// the numbers in SMBPBI words.
//   HexText(0x2D00);           // "0x00002D00"
//   DegreesText(0x2D80);       // "45.5 degC"
//   BitNumbersText(0x8F, 32);  // "32-35, 39"
//   SensorName(0);             // "GPU0"
#ifndef SIDEBAND_CLIENT_BUS_VALUE_TEXT_H_
#define SIDEBAND_CLIENT_BUS_VALUE_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace sideband::client {

std::string HexText(uint32_t value);

// "?" for a value that the trace has not shown.
std::string HexOr(std::optional<uint32_t> value);
std::string NumberOr(std::optional<uint32_t> value);

// A signed number with 8 fractional bits, with one to three decimals; the second with its unit.
std::string Fixed24p8Text(uint32_t value);
std::string DegreesText(uint32_t value);

// In the order of the bus, on which the low byte comes first: "6F 1C 0A 52".
std::string BytesText(uint32_t value);

// Four characters up to the first NUL, in quotes; as BytesText() if any of them is not printable.
std::string CharactersText(uint32_t value);

// Ranges of the numbers of the set bits, of which bit 0 is `first`: "0-3, 7"; "none" for an empty set.
std::string BitNumbersText(uint32_t bits, uint32_t first);

// The texts of the numbers from `first` on, with equal neighbours in one range: "0-3 active, 4 off".
std::string RunsText(const std::vector<std::string>& texts, uint32_t first);

// Names come from the tables of proto/mailbox. Opcodes, asynchronous requests and registers that have no name there
// have theirs here; the numbers are those of NVIDIA's public smbpbi.h (open-gpu-kernel-modules, MIT), the names are our
// own wording. Numbers without a name are shown as numbers.

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

#endif  // SIDEBAND_CLIENT_BUS_VALUE_TEXT_H_
