// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "proto/base/command_line.h"
#include "proto/base/steady_time.h"
#include "secure_mcu/cli/commands.h"
#include "secure_mcu/cli/stop_signals.h"
#include "secure_mcu/guest_view/peek.h"

namespace sideband::mcu {
namespace {

constexpr absl::Duration kIntervalMin = absl::Milliseconds(1);
constexpr absl::Duration kIntervalMax = absl::Hours(1);

struct PeekFlags {
  PeekOptions options;
  std::string format = "table";
  std::string watch;
};

absl::Status SetWatch(const std::string& text, PeekOptions& options) {
  absl::Duration interval;
  if (!absl::ParseDuration(text, &interval) || interval < kIntervalMin || interval > kIntervalMax) {
    return absl::InvalidArgumentError(absl::StrCat("--watch is '", text, "', must be a duration from ",
                                                   absl::FormatDuration(kIntervalMin), " to ",
                                                   absl::FormatDuration(kIntervalMax)));
  }
  options.watch = interval;
  return absl::OkStatus();
}

absl::Status RunPeekCommand(const PeekFlags& flags) {
  PeekOptions options = flags.options;
  options.json = flags.format == "json";
  options.print = PrintText;
  options.wait = [&stop = StopOnSignals()](absl::Duration interval) {
    SteadySleep(interval);  // a signal ends the sleep early
    return !stop;
  };
  if (!flags.watch.empty()) {
    const absl::Status status = SetWatch(flags.watch, options);
    if (!status.ok()) return status;
  }
  return RunPeek(options);
}

}  // namespace

Command AddPeekCommand(CLI::App& app) {
  const auto flags = std::make_shared<PeekFlags>();
  CLI::App* const command = app.add_subcommand("peek-shm", "Read a VM's own counters as a guest does");
  command->add_option("file", flags->options.file, "The view: FOLDER/VM.sbv of `serve --guest-views FOLDER`")
      ->required();
  command->add_option("--format", flags->format, "How to print: table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  command->add_option("--watch", flags->watch, "Again at this interval, for example 500ms, until interrupted")
      ->type_name("DURATION");
  return {command, [flags] { return RunPeekCommand(*flags); }};
}

}  // namespace sideband::mcu
