// SPDX-License-Identifier: Apache-2.0
#include "client/cli/number_text.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace sideband::client {

std::string CountText(uint64_t count, const TableStyle& style) {
  std::string text = absl::StrCat(count);
  if (style.raw) return text;
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

std::string ScaledText(double value, absl::string_view unit, const TableStyle& style) {
  if (style.raw) return absl::StrFormat("%.1f", value);
  constexpr absl::string_view kPrefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  constexpr double kRoundsUp = 999.995;  // rounds to 1000.00 with two decimals
  const absl::string_view* prefix = kPrefixes;
  while (std::abs(value) >= kRoundsUp && std::isfinite(value) && prefix + 1 != std::end(kPrefixes)) {
    value /= 1000;
    ++prefix;
  }
  return absl::StrFormat("%.2f %s%s", value, *prefix, unit);
}

std::string ShareText(double share, const TableStyle& style) {
  return style.raw ? absl::StrFormat("%.6f", share) : absl::StrFormat("%.1f %%", share * 100);
}

std::string EstimateText(std::string text, const TableStyle& style) {
  return text.empty() || style.raw ? text : absl::StrCat("~", text);
}

}  // namespace sideband::client
