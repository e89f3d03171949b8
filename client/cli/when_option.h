// SPDX-License-Identifier: Apache-2.0
//
// A moment on the command line: 5m is five minutes ago, 2026-11-21T12:00:00Z is what it says.
//   since_.AddTo(app, "--since", "From when on");
//   if (const auto since = since_.At(now)) …
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

// nullopt where the text is neither.
std::optional<absl::Time> ParseWhen(absl::string_view text, absl::Time now);

// Must outlive the parsing.
struct WhenOption {
  std::string text;

  // What cannot be understood is refused.
  CLI::Option* AddTo(CLI::App& app, const std::string& flag, const std::string& help);
  // nullopt where the option was not given.
  std::optional<absl::Time> At(absl::Time now) const { return ParseWhen(text, now); }
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_WHEN_OPTION_H_
