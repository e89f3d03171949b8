// SPDX-License-Identifier: Apache-2.0
//
// A point in time on the command line: 5m is five minutes ago; 2026-11-21T12:00:00Z is that instant.
//   since_.AddTo(app, "--since", "From when on");
//   if (const auto since = since_.At(now)) SetTime(*since, *request.mutable_since());
#ifndef SIDEBAND_CLIENT_CLI_WHEN_OPTION_H_
#define SIDEBAND_CLIENT_CLI_WHEN_OPTION_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace sideband::client {

// nullopt if the text is neither a duration nor a time.
std::optional<absl::Time> ParseWhen(absl::string_view text, absl::Time now);

// The object must outlive the parsing.
struct WhenOption {
  std::string text;

  // Adds the option; a malformed value is rejected.
  CLI::Option* AddTo(CLI::App& app, const std::string& flag, const std::string& help);
  // nullopt if the option was not given.
  std::optional<absl::Time> At(absl::Time now) const { return ParseWhen(text, now); }
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_WHEN_OPTION_H_
