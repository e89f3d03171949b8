// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/base/command_line.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "secure_mcu/cli/commands.h"
#include "secure_mcu/replay/replay.h"

namespace sideband::mcu {
namespace {

struct ReplayFlags {
  ReplayInputs inputs;
  std::string format = "json";
  std::string switch_trace;
  bool bounds = false;
};

// A running count of cycles, shown on terminals only.
void ShowProgress(uint64_t cycles) {
  absl::FPrintF(stderr, "\r%.1f million cycles", static_cast<double>(cycles) / 1e6);
}

absl::Status CannotWrite(const std::string& path) {
  return absl::UnavailableError(absl::StrCat(path, ": cannot be written"));
}

absl::StatusOr<ReplayResult> ReplayObserved(const ReplayFlags& flags, ReplayObservers observers) {
  if (flags.switch_trace.empty()) return Replay(flags.inputs, observers);
  std::ofstream file(flags.switch_trace);
  if (!file) return CannotWrite(flags.switch_trace);
  observers.switches = [&file](const ReplaySwitch& event) { file << FormatSwitch(event); };
  auto result = Replay(flags.inputs, observers);
  if (!file.flush()) return CannotWrite(flags.switch_trace);
  return result;
}

absl::Status RunReplayCommand(const ReplayFlags& flags) {
  const bool interactive = isatty(STDERR_FILENO) != 0;
  ReplayObservers observers;
  if (interactive) observers.progress = ShowProgress;
  const auto result = ReplayObserved(flags, std::move(observers));
  // Erases the line of the progress.
  if (interactive) std::fputs("\r\033[K", stderr);
  if (!result.ok()) return result.status();
  // Warnings quote names from the input files.
  for (const std::string& warning : result->warnings) {
    absl::FPrintF(stderr, "sideband-mcu: warning: %s\n", Visible(warning));
  }
  return PrintText(flags.format == "json" ? FormatJson(*result) : FormatTable(*result, flags.bounds));
}

}  // namespace

Command AddReplayCommand(CLI::App& app) {
  const auto flags = std::make_shared<ReplayFlags>();
  CLI::App* const command = app.add_subcommand("replay", "Run a waveform through the counter pipeline to its end");
  command->add_option("--signals", flags->inputs.signals, "Which signal feeds which event (YAML or JSON)")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--trace", flags->inputs.trace,
                   "The waveform (VCD or EVCD, plain, gzip or zstd; or FST, through fst2vcd)")
      ->type_name("FILE")
      ->required();
  command->add_option("--schedule", flags->inputs.schedule, "Which context runs on which slice from which cycle (CSV)")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--exits", flags->inputs.exits,
                   "When the hypervisor runs while somebody is resident (CSV: slice,start_cycle,end_cycle)")
      ->type_name("FILE");
  command
      ->add_option("--peek", flags->inputs.peeks,
                   "Print these counts as they are at these cycles, beside the blocks (CSV: cycle,vm,context,event)")
      ->type_name("FILE");
  CLI::Option* const rotation =
      command
          ->add_option("--rotation", flags->inputs.rotation,
                       "How events take turns at fewer counters, in cycles of 1ns (YAML: counters, slots, relations)")
          ->type_name("FILE");
  command->add_option("--seed", flags->inputs.seed, "The order of the turns; without it the rotation's, or 0")
      ->needs(rotation);
  command->add_flag("--bounds", flags->bounds, "Print a table of each block's estimates, with their errors and bounds")
      ->needs(rotation);
  command->add_option("--format", flags->format, "How to print: json or table")
      ->check(CLI::IsMember({"json", "table"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  command
      ->add_option("--switch-trace", flags->switch_trace,
                   "Write each step of each context switch to this file as a line of JSON")
      ->type_name("FILE");
  return {command, [flags] { return RunReplayCommand(*flags); }};
}

}  // namespace sideband::mcu
