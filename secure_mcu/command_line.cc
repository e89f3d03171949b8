// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/command_line.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <memory>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/base/command_line.h"
#include "proto/base/status_macros.h"
#include "proto/base/steady_time.h"
#include "proto/base/text.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/describe.h"
#include "secure_mcu/device/replay.h"
#include "secure_mcu/firmware/system_info.h"
#include "secure_mcu/guest_view/reader.h"
#include "secure_mcu/serve/serve.h"

namespace sideband::mcu {
namespace {

std::atomic<bool> stop_requested = false;
static_assert(std::atomic<bool>::is_always_lock_free, "set by a signal handler");

// From the first call on, SIGINT and SIGTERM set the returned flag instead of ending the process.
const std::atomic<bool>& StopOnSignals() {
  struct sigaction action {};
  action.sa_handler = [](int) { stop_requested = true; };
  // Without SA_RESTART: a signal ends the sleep or the poll that it interrupts.
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  return stop_requested;
}

// replay

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

// serve

struct ServeFlags {
  ServeOptions options;
  std::string persona = "sideband";
};

absl::Status RunServeCommand(const ServeFlags& flags) {
  ServeOptions options = flags.options;
  SIDEBAND_ASSIGN_OR_RETURN(options.persona, ParsePersona(flags.persona));
  // Boot ids of different starts must differ.
  std::random_device random;
  options.boot_id = uint64_t{random()} << 32 | random();
  // A device's oscillator is no business of the host's time service.
  options.elapsed = [start = RawNow()] { return RawNow() - start; };
  options.time_of_day = absl::Now;
  return Serve(options, StopOnSignals());
}

Command AddServeCommand(CLI::App& app) {
  const auto flags = std::make_shared<ServeFlags>();
  CLI::App* const command = app.add_subcommand("serve", "Serve an emulated device on a virtual bus");
  command
      ->add_option("--chip", flags->options.chips,
                   "What the device is and does (YAML), and FILE@0x4e its address; may be repeated for several devices "
                   "on one bus")
      ->type_name("FILE")
      ->required()
      ->take_all();
  command->add_option("--bus", flags->options.bus, "Where: unix:PATH or unix:PATH@0xADDRESS")
      ->type_name("BUS")
      ->required();
  command
      ->add_option("--guest-views", flags->options.guest_views,
                   "Folder for a file of each VM's own counters; of a confidential VM, its records if the device seals")
      ->type_name("FOLDER");
  command
      ->add_option(
          "--guest-ports", flags->options.guest_ports,
          "Folder for a socket of each VM and each context, by which it reads counters by registers; made unless it "
          "exists")
      ->type_name("FOLDER");
  command
      ->add_option(
          "--persona", flags->persona,
          "The vendor that the board identifies as: sideband, or nvidia for tests with public clients that look for "
          "NVIDIA's vendor id")
      ->type_name("VENDOR")
      ->capture_default_str();
  command
      ->add_option("--faults", flags->options.faults,
                   "Fault plan for the bus (YAML, see sim/bus/README.md); change_catalog is rejected, and a "
                   "delay is reported to the controller as a stretched clock")
      ->type_name("FILE");
  return {command, [flags] { return RunServeCommand(*flags); }};
}

// describe

struct DescribeFlags {
  std::string chip_file;
  std::string format = "tree";
};

absl::Status RunDescribeCommand(const DescribeFlags& flags) {
  SIDEBAND_ASSIGN_OR_RETURN(const ChipFile file, LoadChipFile(flags.chip_file));
  SIDEBAND_ASSIGN_OR_RETURN(const Description description, Describe(file));
  if (!description.warning.empty()) {
    absl::FPrintF(stderr, "sideband-mcu: warning: %s\n", Visible(description.warning));
  }
  return PrintText(flags.format == "json" ? FormatJson(description) : FormatTree(description));
}

Command AddDescribeCommand(CLI::App& app) {
  const auto flags = std::make_shared<DescribeFlags>();
  CLI::App* const command =
      app.add_subcommand("describe", "Show what a chip file's device is made of, and what it moves and stores");
  command->add_option("--chip", flags->chip_file, "What the device is and does (YAML)")->type_name("FILE")->required();
  command->add_option("--format", flags->format, "How to print: tree or json")
      ->check(CLI::IsMember({"tree", "json"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  return {command, [flags] { return RunDescribeCommand(*flags); }};
}

// peek-shm

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

}  // namespace

CommandLine MakeCommandLine() {
  auto app = std::make_unique<CLI::App>("The emulated secure microcontroller of a shared accelerator.", kProgram);
  app->require_subcommand(1);
  app->set_version_flag("--version", ProgramVersion());
  std::vector<Command> commands = {AddReplayCommand(*app), AddServeCommand(*app), AddDescribeCommand(*app),
                                   AddPeekCommand(*app)};
  return {std::move(app), std::move(commands)};
}

}  // namespace sideband::mcu
