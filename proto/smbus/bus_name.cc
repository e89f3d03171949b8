// SPDX-License-Identifier: Apache-2.0
#include "proto/smbus/bus_name.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "proto/base/status_macros.h"

namespace sideband::smbus {
namespace {

// I2C reserves the eight addresses at either end.
constexpr uint32_t kAddressFirst = 0x08;
constexpr uint32_t kAddressLast = 0x77;

bool IsAddress(uint32_t number) { return number >= kAddressFirst && number <= kAddressLast; }

// A suggestion for a path without a scheme.
std::string Hint(absl::string_view name) {
  // A colon before the first slash belongs to a scheme.
  if (name.empty() || name.find(':') < name.find('/')) return "";
  if (!absl::StartsWith(name, "/dev/i2c")) return absl::StrCat(" (did you mean 'unix:", name, "'?)");
  // No adapter has a colon in its name: one stands where the @ of the address belongs.
  const bool has_one = std::ranges::count(name, ':') == 1;
  const std::string path = has_one ? absl::StrReplaceAll(name, {{":", "@"}}) : std::string(name);
  return absl::StrCat(" (did you mean 'i2c:", path, "'?)");
}

absl::StatusOr<std::pair<uint32_t, std::string>> ParseOne(absl::string_view text) {
  const auto error = [text](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("bus '", text, "': ", what));
  };
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(text, absl::MaxSplits('=', 1));
  uint32_t number = 0;
  if (!absl::SimpleAtoi(parts.first, &number) || number > kI2cBusNumberMax) {
    return error(absl::StrCat("must be NUMBER=unix:PATH, with a number from 0 to ", kI2cBusNumberMax));
  }
  absl::string_view path = parts.second;
  if (!absl::ConsumePrefix(&path, "unix:")) return error("must be NUMBER=unix:PATH");
  if (path.empty()) return error("the path is missing");
  if (path.find('@') != absl::string_view::npos) return error("must name the whole bus, without an address");
  return std::pair(number, std::string(path));
}

}  // namespace

absl::StatusOr<uint8_t> ParseAddress(absl::string_view text) {
  uint32_t address = 0;
  const bool is_hex = absl::ConsumePrefix(&text, "0x");
  const bool parsed = is_hex ? absl::SimpleHexAtoi(text, &address) : absl::SimpleAtoi(text, &address);
  if (parsed && IsAddress(address)) return static_cast<uint8_t>(address);
  // Data sheets have addresses in hexadecimal digits.
  const bool lacks_prefix = !is_hex && absl::SimpleHexAtoi(text, &address) && IsAddress(address);
  return absl::InvalidArgumentError(absl::StrCat("the address must be from 0x08 to 0x77",
                                                 lacks_prefix ? absl::StrCat(": write 0x", text) : std::string()));
}

absl::StatusOr<BusName> ParseBusName(absl::string_view name) {
  const auto error = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("bus '", name, "': ", what));
  };
  BusName bus{.address = kMailboxAddress};
  absl::string_view rest = name;
  if (absl::ConsumePrefix(&rest, "unix:")) {
    bus.kind = BusName::Kind::kUnix;
  } else if (absl::ConsumePrefix(&rest, "i2c:")) {
    bus.kind = BusName::Kind::kI2c;
  } else {
    return error(absl::StrCat("must start with unix: or i2c:", Hint(name)));
  }
  if (const size_t at = rest.rfind('@'); at != absl::string_view::npos) {
    const auto address = ParseAddress(rest.substr(at + 1));
    if (!address.ok()) return error(address.status().message());
    bus.address = *address;
    rest = rest.substr(0, at);
  }
  if (rest.empty()) return error("the path is missing");
  bus.path = std::string(rest);
  return bus;
}

absl::StatusOr<I2cDevBuses> ParseI2cDevBuses(absl::string_view text) {
  I2cDevBuses buses;
  for (const absl::string_view part : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    SIDEBAND_ASSIGN_OR_RETURN(auto bus, ParseOne(part));
    if (!buses.insert(std::move(bus)).second) {
      return absl::InvalidArgumentError(absl::StrCat("bus '", part, "': the number is given twice"));
    }
  }
  return buses;
}

std::string FormatI2cDevBuses(const I2cDevBuses& buses) {
  return absl::StrJoin(
      buses, ",", [](std::string* out, const auto& bus) { absl::StrAppend(out, bus.first, "=unix:", bus.second); });
}

}  // namespace sideband::smbus
