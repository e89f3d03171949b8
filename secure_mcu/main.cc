// SPDX-License-Identifier: Apache-2.0
//
// sideband-mcu: the emulated secure microcontroller.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "proto/base/text.h"
#include "secure_mcu/replay/replay.h"
#include "secure_mcu/serve/serve.h"

namespace sideband::mcu {
namespace {

constexpr char kProgram[] = "sideband-mcu";

std::atomic<bool> stop_requested = false;
static_assert(std::atomic<bool>::is_always_lock_free, "set by a signal handler");

void StopOnSignals() {
  struct sigaction action {};
  action.sa_handler = [](int) { stop_requested = true; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

// A line that counts up, for a person at a terminal only.
void ShowProgress(uint64_t cycles) {
  constexpr uint64_t kEvery = 1 << 20;
  if (cycles % kEvery == 0) absl::FPrintF(stderr, "\r%d million cycles", cycles >> 20);
}

struct ReplayFlags {
  ReplayInputs inputs;
  std::string format = "json";
  std::string switch_trace;
};

absl::Status CannotWrite(const std::string& what) {
  return absl::UnavailableError(absl::StrCat("cannot write to ", what));
}

absl::Status RunReplay(const ReplayFlags& flags) {
  const bool interactive = isatty(STDERR_FILENO) != 0;
  ReplayObservers observers;
  if (interactive) observers.progress = ShowProgress;
  std::ofstream switches;
  if (!flags.switch_trace.empty()) {
    switches.open(flags.switch_trace);
    if (!switches) return CannotWrite(flags.switch_trace);
    observers.switches = [&switches](const ReplaySwitch& event) { switches << FormatSwitch(event); };
  }
  const auto result = Replay(flags.inputs, observers);
  if (interactive) std::fputs("\r\033[K", stderr);
  if (!result.ok()) return result.status();
  if (switches.is_open() && !switches.flush()) return CannotWrite(flags.switch_trace);
  const std::string text = flags.format == "json" ? FormatJson(*result) : FormatTable(*result);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    return CannotWrite("standard output");
  }
  return absl::OkStatus();
}

absl::Status RunServe(ServeOptions options) {
  StopOnSignals();
  std::random_device random;
  options.boot_id = uint64_t{random()} << 32 | random();
  options.elapsed = [start = std::chrono::steady_clock::now()] {
    return absl::FromChrono(std::chrono::steady_clock::now() - start);
  };
  return Serve(options, stop_requested);
}

int Main(int argc, char** argv) {
  CLI::App app("The emulated secure microcontroller of a shared accelerator.", kProgram);
  app.require_subcommand(1);
  app.set_version_flag("--version", "sideband-mcu 0.1.0");

  ReplayFlags replay;
  CLI::App* const replay_command =
      app.add_subcommand("replay", "Run a waveform through the counter pipeline to its end");
  replay_command->add_option("--signals", replay.inputs.signals, "which signal feeds which event (JSON)")->required();
  replay_command->add_option("--trace", replay.inputs.trace, "waveform (VCD, plain or gzip)")->required();
  replay_command->add_option("--schedule", replay.inputs.schedule, "who is on the slice when (CSV)")->required();
  replay_command->add_option("--format", replay.format, "json or table")
      ->check(CLI::IsMember({"json", "table"}))
      ->capture_default_str();
  replay_command->add_option("--switch-trace", replay.switch_trace,
                             "write each step of each context switch there (JSON, one a line)");

  ServeOptions serve;
  CLI::App* const serve_command = app.add_subcommand("serve", "Serve an emulated device on a virtual bus");
  serve_command->add_option("--chip", serve.chip_file, "what the device is and does (YAML)")->required();
  serve_command->add_option("--bus", serve.bus, "where: unix:PATH or unix:PATH@0xADDRESS")->required();

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return ReportAndExitCode(kProgram, absl::InvalidArgumentError(error.what()));
  }
  return ReportAndExitCode(kProgram, replay_command->parsed() ? RunReplay(replay) : RunServe(serve));
}

}  // namespace
}  // namespace sideband::mcu

int main(int argc, char** argv) { return sideband::mcu::Main(argc, argv); }
