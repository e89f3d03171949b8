// SPDX-License-Identifier: Apache-2.0
//
// Options shared by several subcommands. Each object must outlive the parsing.
//   past_.AddTo(app);
//   SIDEBAND_RETURN_IF_ERROR(past_.Check(context.Now()));
//   if (past_.is_wanted()) past_.FillIn(context.Now(), request);
#ifndef SIDEBAND_CLIENT_CLI_OPTIONS_H_
#define SIDEBAND_CLIENT_CLI_OPTIONS_H_

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/cli/table.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace sideband::client {

// --format table|json|csv (or lines), --wide and --raw; other formats are rejected.
struct FormatOption {
  static constexpr char kLines[] = "lines";
  std::string name = "table";
  TableStyle style;

  // For listings.
  void AddTo(CLI::App& app);
  // For streams: lines, too, which is the default.
  void AddWithLinesTo(CLI::App& app);
  // For single objects: table or json, without --wide and --raw.
  void AddWithoutCsvTo(CLI::App& app);
  bool lines() const { return name == kLines; }
  bool json() const { return name == "json"; }
  bool csv() const { return name == "csv"; }
};

// --device, repeatable, with wildcards.
void AddDeviceOption(CLI::App& app, std::vector<std::string>& devices);

// --event, repeatable, with wildcards.
void AddEventOption(CLI::App& app, std::vector<std::string>& events);

// --device --vm --context --event; empty members do not narrow the selection.
struct FilterOptions {
  std::vector<std::string> devices;  // names, or patterns (selection.h)
  std::vector<std::string> vms;      // names, UUIDs, or patterns
  std::string context;
  std::vector<std::string> events;  // names, or patterns

  void AddTo(CLI::App& app);
};

// A duration on the command line: 500ms, 1h30m, 2d, or seconds without a unit. nullopt if the text is none.
std::optional<absl::Duration> ParseLength(absl::string_view text);

// A point in time on the command line: 5m is five minutes ago; 2026-11-21T12:00:00Z is that instant, and 2026-11-21 the
// beginning of that day (UTC). nullopt if the text is neither a duration with its unit nor a time.
std::optional<absl::Time> ParseWhen(absl::string_view text, absl::Time now);

// The object must outlive the parsing.
struct WhenOption {
  std::string text;

  // Adds the option; a malformed value is rejected.
  CLI::Option* AddTo(CLI::App& app, const std::string& flag, const std::string& help);
  // nullopt if the option was not given.
  std::optional<absl::Time> At(absl::Time now) const { return ParseWhen(text, now); }
};

// Must outlive the parsing. Not thread-safe.
class PastOptions {
 public:
  // Malformed values are rejected, as are the others without --since. Returns --since.
  CLI::Option* AddTo(CLI::App& app);
  bool is_wanted() const { return !since_.text.empty(); }
  // INVALID_ARGUMENT if the end is before the beginning.
  absl::Status Check(absl::Time now) const;
  // Sets since, until and step of a request, as far as they were given.
  template <typename Request>
  void FillIn(absl::Time now, Request& request) const {
    if (const auto since = since_.At(now)) SetTime(*since, *request.mutable_since());
    if (const auto until = until_.At(now)) SetTime(*until, *request.mutable_until());
    if (!step_.empty()) SetStep(*request.mutable_step());
  }

 private:
  static void SetTime(absl::Time from, google::protobuf::Timestamp& to);
  void SetStep(google::protobuf::Duration& to) const;

  WhenOption since_;
  WhenOption until_;
  std::string step_;
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_OPTIONS_H_
