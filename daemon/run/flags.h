// SPDX-License-Identifier: Apache-2.0
//
// The command line of `sidebandd`. Example:
//   Flags flags;
//   const std::unique_ptr<CLI::App> app = MakeCommandLine(flags);
//   SIDEBAND_ASSIGN_OR_RETURN(const bool is_answered, ParseCommandLine(*app, {argv + 1, argv + argc}, PrintText));
#ifndef SIDEBAND_DAEMON_RUN_FLAGS_H_
#define SIDEBAND_DAEMON_RUN_FLAGS_H_

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

namespace sideband::daemon {

inline constexpr char kProgram[] = "sidebandd";

struct Flags {
  std::string config_file;
  bool check = false;
};

// Parsing stores the options in `flags`, which must outlive the result. The manual page is generated from it, too.
std::unique_ptr<CLI::App> MakeCommandLine(Flags& flags);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_RUN_FLAGS_H_
