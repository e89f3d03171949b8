// SPDX-License-Identifier: Apache-2.0
#include "daemon/redfish/request_target.h"

#include <algorithm>
#include <boost/url/parse.hpp>
#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

constexpr uint32_t kNumberMax = 999'999'999;

absl::StatusOr<size_t> Number(absl::string_view name, absl::string_view value) {
  uint32_t number = 0;
  const bool has_digits_only = std::ranges::all_of(value, [](char c) { return c >= '0' && c <= '9'; });
  if (has_digits_only && absl::SimpleAtoi(value, &number) && number <= kNumberMax) return number;
  return absl::InvalidArgumentError(absl::StrCat("Give ", name, " a number from 0 to ", kNumberMax, "."));
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
  for (const auto& [name, value] : target.parameters) {
    if (!absl::StartsWith(name, "$")) continue;
    if (name != "$skip" && name != "$top") return absl::UnimplementedError("Remove the query parameter.");
    if (!is_collection) return absl::InvalidArgumentError(absl::StrCat("Use ", name, " with a collection."));
    std::optional<size_t>& number = name == "$skip" ? skip : top;
    if (number) return absl::InvalidArgumentError(absl::StrCat("Give ", name, " once."));
    SIDEBAND_ASSIGN_OR_RETURN(number, Number(name, value));
  }
  return PageOptions{skip.value_or(0), top};
}

}  // namespace sideband::daemon
