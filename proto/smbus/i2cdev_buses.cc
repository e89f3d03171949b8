// SPDX-License-Identifier: Apache-2.0
#include "proto/smbus/i2cdev_buses.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "proto/base/status_macros.h"

namespace sideband::smbus {
namespace {

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
