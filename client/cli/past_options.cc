// SPDX-License-Identifier: Apache-2.0
#include "client/cli/past_options.h"

#include <CLI/CLI.hpp>
#include <cstdint>

#include "absl/strings/str_cat.h"

namespace sideband::client {
namespace {

constexpr absl::Duration kStepMin = absl::Milliseconds(1);
constexpr absl::Duration kStepMax = absl::Hours(24 * 366);

// A CLI11 validator: returns the error message, or an empty text.
std::string CheckStep(const std::string& text) {
  absl::Duration step;
  const bool good = absl::ParseDuration(text, &step) && step >= kStepMin && step <= kStepMax;
  return good ? "" : absl::StrCat("'", text, "' is no duration from 1ms to 8784h, such as 5s");
}

}  // namespace

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

CLI::Option* PastOptions::AddTo(CLI::App& app) {
  CLI::Option* const since = since_.AddTo(app, "--since", "The past from then on; a duration is so long ago");
  until_.AddTo(app, "--until", "Up to when; default: now")->needs(since);
  app.add_option("--step", step_, "One point, the first, of each so long; default: all that the daemon has")
      ->check(CheckStep)
      ->type_name("DURATION")
      ->needs(since);
  return since;
}

absl::Status PastOptions::Check(absl::Time now) const {
  const auto since = since_.At(now), until = until_.At(now);
  const bool is_backwards = since && until && *until < *since;
  return is_backwards ? absl::InvalidArgumentError("--until is before --since") : absl::OkStatus();
}

void PastOptions::SetTime(absl::Time from, google::protobuf::Timestamp& to) {
  // Rounds down, also before 1970: a Timestamp's nanos are never negative.
  const int64_t seconds = absl::ToUnixSeconds(from);
  to.set_seconds(seconds);
  to.set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(from - absl::FromUnixSeconds(seconds))));
}

void PastOptions::SetStep(google::protobuf::Duration& to) const {
  absl::Duration step;
  if (!absl::ParseDuration(step_, &step)) return;
  to.set_seconds(absl::IDivDuration(step, absl::Seconds(1), &step));
  to.set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(step)));
}

}  // namespace sideband::client
