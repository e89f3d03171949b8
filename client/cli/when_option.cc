// SPDX-License-Identifier: Apache-2.0
#include "client/cli/when_option.h"

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"

namespace sideband::client {

std::optional<absl::Time> ParseWhen(absl::string_view text, absl::Time now) {
  constexpr absl::Duration kAgoMax = absl::Hours(24 * 366 * 10);
  absl::Duration ago;
  if (absl::ParseDuration(text, &ago) && ago >= absl::ZeroDuration() && ago <= kAgoMax) return now - ago;
  absl::Time time;
  std::string error;
  const bool is_time = absl::ParseTime(absl::RFC3339_full, text, &time, &error) && time > absl::InfinitePast() &&
                       time < absl::InfiniteFuture();
  return is_time ? std::optional(time) : std::nullopt;
}

CLI::Option* WhenOption::AddTo(CLI::App& app, const std::string& flag, const std::string& help) {
  // A CLI11 validator: returns the error message, or an empty text.
  const auto check = [](const std::string& given) -> std::string {
    if (ParseWhen(given, absl::UnixEpoch())) return "";
    return absl::StrCat("'", given, "' is neither a duration, such as 5m, nor a time, such as 2026-11-21T12:00:00Z");
  };
  return app.add_option(flag, text, help)->check(check)->type_name("WHEN");
}

}  // namespace sideband::client
