// SPDX-License-Identifier: Apache-2.0
//
// Parses the command line of a program: answers --help and --version, and describes an error in one line.
//   SIDEBAND_ASSIGN_OR_RETURN(const bool is_answered, ParseCommandLine(app, {argv + 1, argv + argc}, PrintText));
//   if (is_answered) return absl::OkStatus();
#ifndef SIDEBAND_PROTO_BASE_COMMAND_LINE_H_
#define SIDEBAND_PROTO_BASE_COMMAND_LINE_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sideband {

// Writes all of `text` to standard output; UNAVAILABLE if that fails.
absl::Status PrintText(absl::string_view text);

// Parses `arguments`, which do not include the program's name; `app` must have it. Returns true if they only requested
// help or the version, which `print` has then been given; `help` returns the text of the former, by default
// app.help(). INVALID_ARGUMENT that names the unknown word with a suggestion, or refers to --help.
absl::StatusOr<bool> ParseCommandLine(
    CLI::App& app, std::vector<std::string> arguments, const std::function<absl::Status(absl::string_view)>& print,
    const std::function<std::string(const CLI::App&)>& help = [](const CLI::App& of) { return of.help(); });

}  // namespace sideband

#endif  // SIDEBAND_PROTO_BASE_COMMAND_LINE_H_
