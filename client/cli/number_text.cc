// SPDX-License-Identifier: Apache-2.0
#include "client/cli/number_text.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace sideband::client {
namespace {

struct Scaled {
  double value;
  absl::string_view prefix;
};

constexpr absl::string_view kDecimal[] = {"", "k", "M", "G", "T", "P", "E"};
constexpr absl::string_view kBinary[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};

// Divides by powers of `base` until the value is below `rounds_up`, which its format would round to the base.
Scaled Scale(double value, double rounds_up, double base = 1000,
             std::span<const absl::string_view> prefixes = kDecimal) {
  size_t prefix = 0;
  while (std::abs(value) >= rounds_up && std::isfinite(value) && prefix + 1 < prefixes.size()) {
    value /= base;
    ++prefix;
  }
  return {value, prefixes[prefix]};
}

}  // namespace

std::string CountText(uint64_t count, const TableStyle& style) {
  std::string text = absl::StrCat(count);
  if (style.raw) return text;
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

std::string PluralText(uint64_t count, absl::string_view thing) {
  return absl::StrCat(count, " ", thing, count == 1 ? "" : "s");
}

std::string BinaryText(double value, absl::string_view unit, const TableStyle& style) {
  if (style.raw) return absl::StrFormat("%.1f", value);
  const Scaled scaled = Scale(value, 1023.995, 1024, kBinary);
  return absl::StrFormat("%.2f %s%s", scaled.value, scaled.prefix, unit);
}

std::string ScaledText(double value, absl::string_view unit, const TableStyle& style) {
  if (style.raw) return absl::StrFormat("%.1f", value);
  const Scaled scaled = Scale(value, 999.995);  // rounds to 1000.00 with two decimals
  return absl::StrFormat("%.2f %s%s", scaled.value, scaled.prefix, unit);
}

std::string CompactText(double value, absl::string_view unit) {
  const Scaled scaled = Scale(value, 999.5);
  const double size = std::abs(scaled.value);
  const bool is_whole = size >= 99.95 || (scaled.prefix.empty() && size == std::trunc(size));
  const int decimals = is_whole ? 0 : size >= 9.995 ? 1 : 2;
  return absl::StrFormat("%.*f%s%s", decimals, scaled.value, scaled.prefix, unit);
}

std::string CompactShareText(double share) { return absl::StrFormat("%.1f%%", share * 100); }

std::string ShareText(double share, const TableStyle& style) {
  return style.raw ? absl::StrFormat("%.6f", share) : absl::StrFormat("%.1f %%", share * 100);
}

std::string CoverageText(double coverage, const TableStyle& style) {
  if (std::isnan(coverage)) return "?";
  if (style.raw) return absl::StrFormat("%.6f", std::floor(coverage * 1e6) / 1e6);
  return coverage == 1 ? "100 %" : absl::StrFormat("%.1f %%", std::floor(coverage * 1000) / 10);
}

std::string ErrorText(const EstimateRange& range, const TableStyle& style) {
  constexpr double kHalfOf95Percent = 1.96;
  const double half = std::ceil(kHalfOf95Percent * static_cast<double>(range.standard_error));
  const auto cut = [&](uint64_t room) { return half < static_cast<double>(room) ? static_cast<uint64_t>(half) : room; };
  const uint64_t below = cut(range.value - std::min(range.lower, range.value));
  const uint64_t above = cut(range.upper - std::min(range.value, range.upper));
  if (below == above) return absl::StrCat("±", CountText(below, style));
  return absl::StrCat("-", CountText(below, style), "/+", CountText(above, style));
}

std::string EstimateText(std::string text, const TableStyle& style) {
  return text.empty() || style.raw ? text : absl::StrCat("~", text);
}

}  // namespace sideband::client
