// SPDX-License-Identifier: Apache-2.0
#include "daemon/redfish/request_target.h"

#include <algorithm>
#include <boost/url/parse.hpp>
#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "daemon/redfish/error_document.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

constexpr uint32_t kNumberMax = 999'999'999;

constexpr char kExpand[] = "$expand";

absl::Status BadValue(const std::string& name, absl::string_view advice) {
  return WithMessageArgs(absl::InvalidArgumentError(absl::StrCat("Give ", name, " ", advice, ".")), {name});
}

bool HasDigitsOnly(absl::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

absl::StatusOr<size_t> Number(const std::string& name, absl::string_view value) {
  uint32_t number = 0;
  if (HasDigitsOnly(value) && absl::SimpleAtoi(value, &number) && number <= kNumberMax) return number;
  return BadValue(name, absl::StrCat("a number from 0 to ", kNumberMax));
}

// OPTION or OPTION($levels=NUMBER).
absl::StatusOr<std::string> ExpandOption(absl::string_view value) {
  const absl::Status malformed = BadValue(kExpand, "one of '.', '*' and '~', alone or with ($levels=1)");
  const std::string option(value.substr(0, 1));
  if (option != "." && option != "*" && option != "~") return malformed;
  absl::string_view levels = value.substr(1);
  if (levels.empty()) return option;
  if (!absl::ConsumePrefix(&levels, "($levels=") || !absl::ConsumeSuffix(&levels, ")")) return malformed;
  if (levels.empty() || !HasDigitsOnly(levels)) return malformed;
  if (levels == "1") return option;
  return WithMessageArgs(absl::OutOfRangeError("Expand one level."), {std::string(levels), "$levels", "1"});
}

}  // namespace

absl::StatusOr<RedfishTarget> ParseRedfishTarget(absl::string_view target) {
  const auto url = boost::urls::parse_origin_form({target.data(), target.size()});
  if (url.has_error()) return absl::InvalidArgumentError("Correct the URI.");
  RedfishTarget parsed;
  for (const std::string segment : url->segments()) parsed.segments.push_back(segment);
  if (!parsed.segments.empty() && parsed.segments.back().empty()) parsed.segments.pop_back();
  for (const boost::urls::param parameter : url->params()) {
    parsed.parameters.emplace_back(parameter.key, parameter.value);
  }
  return parsed;
}

absl::StatusOr<PageOptions> PageOf(const RedfishTarget& target, bool is_collection) {
  std::optional<size_t> skip, top;
  std::string expand;
  for (const auto& [name, value] : target.parameters) {
    if (!absl::StartsWith(name, "$")) continue;
    if (name == kExpand && is_collection) {
      if (!expand.empty()) return absl::InvalidArgumentError("Give $expand once.");
      SIDEBAND_ASSIGN_OR_RETURN(expand, ExpandOption(value));
      continue;
    }
    if (name != "$skip" && name != "$top") {
      return absl::UnimplementedError(absl::StrCat("Remove the query parameter ", name, "."));
    }
    if (!is_collection) return absl::InvalidArgumentError(absl::StrCat("Use ", name, " with a collection."));
    std::optional<size_t>& number = name == "$skip" ? skip : top;
    if (number) return absl::InvalidArgumentError(absl::StrCat("Give ", name, " once."));
    SIDEBAND_ASSIGN_OR_RETURN(number, Number(name, value));
  }
  return PageOptions{skip.value_or(0), top, expand};
}

}  // namespace sideband::daemon
