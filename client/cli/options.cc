// SPDX-License-Identifier: Apache-2.0
#include "client/cli/options.h"

#include <CLI/CLI.hpp>
#include <cstdint>

#include "absl/strings/str_cat.h"

namespace sideband::client {
namespace {

void AddNames(CLI::App& app, const std::string& flag, const std::string& what, std::vector<std::string>& names) {
  app.add_option(flag, names, absl::StrCat("Only this ", what, ", or those that match * and ?; repeatable"))
      ->type_name("NAME")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
}

void AddFormat(CLI::App& app, const char* help, const std::vector<std::string>& names, std::string& name) {
  app.add_option("-o,--format", name, help)->check(CLI::IsMember(names))->type_name("FORMAT")->capture_default_str();
}

void AddStyle(CLI::App& app, TableStyle& style) {
  app.add_flag("--wide", style.wide, "All columns, in full");
  app.add_flag("--raw", style.raw, "Numbers in full, without groups and units");
}

constexpr absl::Duration kStepMin = absl::Milliseconds(1);
constexpr absl::Duration kStepMax = absl::Hours(24 * 366);

// A CLI11 validator: returns the error message, or an empty text.
std::string CheckStep(const std::string& text) {
  const auto step = ParseLength(text);
  return step && *step >= kStepMin && *step <= kStepMax
             ? ""
             : absl::StrCat("'", text, "' is not a duration from 1ms to 8784h, such as 5s");
}

bool IsNumber(absl::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.") == absl::string_view::npos;
}

}  // namespace

void FormatOption::AddTo(CLI::App& app) {
  AddFormat(app, "How to print: table, json or csv (RFC 4180)", {"table", "json", "csv"}, name);
  AddStyle(app, style);
}

void FormatOption::AddWithLinesTo(CLI::App& app) {
  name = kLines;
  AddFormat(app, "How to print: lines, table, json or csv (RFC 4180)", {kLines, "table", "json", "csv"}, name);
  AddStyle(app, style);
}

void FormatOption::AddWithoutCsvTo(CLI::App& app) {
  AddFormat(app, "How to print: table or json", {"table", "json"}, name);
}

void AddDeviceOption(CLI::App& app, std::vector<std::string>& devices) { AddNames(app, "--device", "device", devices); }

void AddEventOption(CLI::App& app, std::vector<std::string>& events) { AddNames(app, "--event", "event", events); }

void FilterOptions::AddTo(CLI::App& app) {
  AddDeviceOption(app, devices);
  AddNames(app, "--vm", "VM", vms);
  app.add_option("--context", context, "Only this context")->type_name("NAME");
  AddEventOption(app, events);
}

std::optional<absl::Duration> ParseLength(absl::string_view text) {
  constexpr int kHoursOfDay = 24;
  absl::Duration length;
  if (const size_t d = text.find('d'); d != absl::string_view::npos) {
    if (!IsNumber(text.substr(0, d)) || !absl::ParseDuration(absl::StrCat(text.substr(0, d), "h"), &length)) return {};
    const auto rest = d + 1 == text.size() ? absl::ZeroDuration() : ParseLength(text.substr(d + 1));
    return rest ? std::optional(kHoursOfDay * length + *rest) : std::nullopt;
  }
  const bool is_good = absl::ParseDuration(IsNumber(text) ? absl::StrCat(text, "s") : std::string(text), &length);
  return is_good ? std::optional(length) : std::nullopt;
}

std::optional<absl::Time> ParseWhen(absl::string_view text, absl::Time now) {
  constexpr absl::Duration kAgoMax = absl::Hours(24 * 366 * 10);
  // A number without a unit may also be meant as a time.
  const auto ago = IsNumber(text) && text != "0" ? std::nullopt : ParseLength(text);
  if (ago && *ago >= absl::ZeroDuration() && *ago <= kAgoMax) return now - *ago;
  for (const char* const format : {absl::RFC3339_full, "%E4Y-%m-%d"}) {
    absl::Time time;
    std::string error;
    const bool is_time =
        absl::ParseTime(format, text, &time, &error) && time > absl::InfinitePast() && time < absl::InfiniteFuture();
    if (is_time) return time;
  }
  return std::nullopt;
}

CLI::Option* WhenOption::AddTo(CLI::App& app, const std::string& flag, const std::string& help) {
  // A CLI11 validator: returns the error message, or an empty text.
  const auto check = [](const std::string& given) -> std::string {
    if (ParseWhen(given, absl::UnixEpoch())) return "";
    return absl::StrCat(
        "'", given,
        "' is neither a duration, such as 5m or 2d, nor a time, such as 2026-11-21 or 2026-11-21T12:00:00Z");
  };
  return app.add_option(flag, text, help)->check(check)->type_name("WHEN");
}

CLI::Option* PastOptions::AddTo(CLI::App& app) {
  CLI::Option* const since =
      since_.AddTo(app, "--since", "Print the history from this time on, or of the last 5m, 2h or 3d");
  until_.AddTo(app, "--until", "Print the history up to this time, or to the beginning of this date; default: now")
      ->needs(since);
  app.add_option("--step", step_, "Print the first point of each step; default: every point that the daemon has")
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
  absl::Duration step = ParseLength(step_).value_or(absl::ZeroDuration());
  to.set_seconds(absl::IDivDuration(step, absl::Seconds(1), &step));
  to.set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(step)));
}

}  // namespace sideband::client
