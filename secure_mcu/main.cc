// SPDX-License-Identifier: Apache-2.0
//
// sideband-mcu: the emulated secure microcontroller.
#include "absl/status/status.h"
#include "proto/base/command_line.h"
#include "proto/base/errors.h"
#include "secure_mcu/command_line.h"

namespace sideband::mcu {
namespace {

int Main(int argc, char** argv) {
  const CommandLine line = MakeCommandLine();
  const auto is_answered = ParseCommandLine(*line.app, {argv + 1, argv + argc}, PrintText);
  if (!is_answered.ok() || *is_answered) return ReportAndExitCode(kProgram, is_answered.status());
  for (const Command& command : line.commands) {
    if (command.app->parsed()) return ReportAndExitCode(kProgram, command.run());
  }
  return 2;  // unreachable: require_subcommand(1) rejects a command line without a subcommand
}

}  // namespace
}  // namespace sideband::mcu

int main(int argc, char** argv) {
  return sideband::RunProgram(sideband::mcu::kProgram, [&] { return sideband::mcu::Main(argc, argv); });
}
