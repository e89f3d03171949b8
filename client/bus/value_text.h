// SPDX-License-Identifier: Apache-2.0
//
// Numbers of registers as text, without regard to the command that they belong to.
//   HexText(0x2D00);           // "0x00002D00"
//   DegreesText(0x2D80);       // "45.5 degC"
//   BitNumbersText(0x8F, 32);  // "32-35, 39"
#ifndef SIDEBAND_CLIENT_BUS_VALUE_TEXT_H_
#define SIDEBAND_CLIENT_BUS_VALUE_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

// What the numbers from `first` on are, with equal neighbours in one range: "0-3 active, 4 off".
std::string RunsText(const std::vector<std::string>& texts, uint32_t first);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_VALUE_TEXT_H_
