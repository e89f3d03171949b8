// SPDX-License-Identifier: Apache-2.0
#include "proto/exposition/text.h"

#include <charconv>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

namespace sideband {
namespace {

void AppendEscaped(std::string& out, absl::string_view value) {
  for (const char c : value) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
}

absl::string_view NameOf(MetricType type) {
  constexpr absl::string_view kNames[] = {"counter", "gauge", "histogram"};
  return kNames[static_cast<size_t>(type)];
}

// Only OpenMetrics escapes quotes in help texts.
void AppendHelp(std::string& out, MetricsFormat format, absl::string_view help) {
  for (const char c : help) {
    if (c == '\\' || (c == '"' && format == MetricsFormat::kOpenMetrics)) out += '\\';
    // Descriptions come from a device: a line feed would end the HELP line and begin one of its own.
    out += absl::ascii_isprint(c) ? c : '?';
  }
}

}  // namespace

absl::string_view ContentTypeOf(MetricsFormat format) {
  return format == MetricsFormat::kText ? "text/plain; version=0.0.4; charset=utf-8"
                                        : "application/openmetrics-text; version=1.0.0; charset=utf-8";
}

void AppendLabel(std::string& out, absl::string_view name, absl::string_view value) {
  if (!out.empty() && out.back() != '{') out += ',';
  absl::StrAppend(&out, name, "=\"");
  AppendEscaped(out, value);
  out += '"';
}

std::string FamilyHeader(MetricsFormat format, absl::string_view name, MetricType type, absl::string_view help) {
  // OpenMetrics' metadata name the family of a counter, without the suffix of its samples.
  if (format == MetricsFormat::kOpenMetrics && type == MetricType::kCounter) absl::ConsumeSuffix(&name, "_total");
  std::string out = absl::StrCat("# HELP ", name, " ");
  AppendHelp(out, format, help);
  absl::StrAppend(&out, "\n# TYPE ", name, " ", NameOf(type), "\n");
  return out;
}

std::string CreatedName(absl::string_view counter) {
  return absl::StrCat(absl::StripSuffix(counter, "_total"), "_created");
}

std::string NumberText(double value) {
  // Both formats demand these spellings; to_chars would write nan and inf.
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  char digits[32];  // the shortest form of a double has at most 24 characters
  return std::string(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
}

std::string ValueText(double value) {
  constexpr double kExactMax = 9'007'199'254'740'992;  // 2^53
  if (std::abs(value) <= kExactMax && std::trunc(value) == value) return absl::StrCat(static_cast<int64_t>(value));
  return NumberText(value);
}

std::string TimeText(absl::Time time) {
  const int64_t milliseconds = absl::ToUnixMillis(time);
  return absl::StrFormat("%d.%03d", milliseconds / 1000, milliseconds % 1000);
}

}  // namespace sideband
