// SPDX-License-Identifier: Apache-2.0
//
// sideband-mcu: the emulated secure microcontroller.
#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "proto/base/text.h"
#include "proto/base/usage_error.h"
#include "secure_mcu/cli/commands.h"
#include "secure_mcu/firmware/version.h"

namespace sideband::mcu {
namespace {

constexpr char kProgram[] = "sideband-mcu";

int Main(int argc, char** argv) {
  CLI::App app("The emulated secure microcontroller of a shared accelerator.", kProgram);
  app.require_subcommand(1);
  app.set_version_flag("--version", kProgramVersion);
  const Command commands[] = {AddReplayCommand(app), AddServeCommand(app), AddDescribeCommand(app),
                              AddPeekCommand(app)};
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return ReportAndExitCode(kProgram, UsageError(app, error));
  }
  for (const Command& command : commands) {
    if (command.app->parsed()) return ReportAndExitCode(kProgram, command.run());
  }
  return 2;  // require_subcommand has seen to it that one was parsed
}

}  // namespace
}  // namespace sideband::mcu

int main(int argc, char** argv) { return sideband::mcu::Main(argc, argv); }
