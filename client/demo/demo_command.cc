// SPDX-License-Identifier: Apache-2.0
#include "client/demo/demo_command.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "client/cli/interrupt.h"
#include "client/demo/child_process.h"
#include "client/demo/demo_site.h"
#include "client/demo/demo_steps.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

constexpr char kChipFile[] =
#include "client/demo/chip_yaml.inc"
    ;

constexpr absl::Duration kStartPatience = absl::Seconds(30);
constexpr absl::Duration kPoll = absl::Milliseconds(50);

// Where the other two programs are: beside this one, where the build puts them, or wherever the system finds them.
std::string FindProgram(const std::string& name, const std::string& build_folder) {
  std::error_code error;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const auto& candidate : {own / name, own.parent_path() / build_folder / name}) {
    if (access(candidate.c_str(), X_OK) == 0) return candidate.string();
  }
  return name;
}

std::string OwnFolder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path().string();
}

absl::StatusOr<std::string> MakeFolder() {
  std::string folder = (std::filesystem::temp_directory_path() / "sideband-demo-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return ErrnoStatus(errno, folder);
  return folder;
}

std::string LastLine(const std::string& text) {
  const std::vector<std::string> lines = absl::StrSplit(absl::StripSuffix(text, "\n"), '\n');
  return lines.back();
}

// Single quotes for the shell.
std::string ShellQuoted(const std::string& text) {
  return absl::StrCat("'", absl::StrJoin(absl::StrSplit(text, '\''), "'\\''"), "'");
}

// What a demonstration is about.
struct Scenario {
  std::vector<DemoVm> vms;
  std::string chip_file;
  std::vector<std::string> events;  // a few that happen
};

// A dry run of the waveform: it finds mistakes in the files, and tells who and what is in them.
// Names become labels, file names and words of commands here.
absl::Status CheckName(const DemoWaveform& waveform, const std::string& name) {
  constexpr char kAllowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  if (!name.empty() && name[0] != '.' && name[0] != '-' && name.find_first_not_of(kAllowed) == std::string::npos) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      waveform.schedule, ": the demonstration needs names of letters, digits, '_', '.' and '-', not '", name, "'"));
}

absl::StatusOr<Scenario> WaveformScenario(const DemoWaveform& waveform, const std::string& mcu) {
  constexpr size_t kEvents = 2;
  SIDEBAND_ASSIGN_OR_RETURN(
      const ShellResult replay,
      RunShell(absl::StrCat(ShellQuoted(mcu), " replay --signals ", ShellQuoted(waveform.signals), " --trace ",
                            ShellQuoted(waveform.trace), " --schedule ", ShellQuoted(waveform.schedule))));
  if (replay.exit_status != 0) {
    const std::string line = LastLine(replay.output);
    return absl::InvalidArgumentError(absl::StripPrefix(line, "sideband-mcu: "));
  }
  const auto result = nlohmann::json::parse(replay.output, nullptr, /*allow_exceptions=*/false);
  if (result.is_discarded()) return absl::InternalError("sideband-mcu replay printed no JSON");
  std::vector<std::pair<std::string, std::vector<std::string>>> vms;
  for (const auto& block : result["blocks"]) {
    const std::string vm = block["vm"];
    if (vm == "vm0") continue;
    SIDEBAND_RETURN_IF_ERROR(CheckName(waveform, vm));
    if (!block["context"].is_null()) SIDEBAND_RETURN_IF_ERROR(CheckName(waveform, block["context"]));
    if (block["context"].is_null()) vms.push_back({vm, {}});
    if (!block["context"].is_null()) vms.back().second.push_back(block["context"]);
  }
  if (vms.empty()) return absl::InvalidArgumentError(absl::StrCat(waveform.schedule, ": no VM is ever resident"));
  Scenario scenario{.vms = WaveformVms(vms)};
  scenario.chip_file = WaveformChipFile(waveform, scenario.vms);
  for (const auto& [event, count] : result["blocks"][0]["counters"].items()) {
    if (event.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string::npos ||
        event.find_first_of("0123456789") == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(waveform.signals, ": event '", event, "' must be made of a-z, 0-9 and '_' to be served"));
    }
    if (count != 0 && scenario.events.size() < kEvents) scenario.events.push_back(event);
  }
  if (scenario.events.empty()) return absl::InvalidArgumentError(absl::StrCat(waveform.signals, ": no event happens"));
  return scenario;
}

Scenario BuiltInScenario() {
  return {.vms = BuiltInVms(), .chip_file = kChipFile, .events = {"tensor_active_cycles", "dram_read_cycles"}};
}

class DemoCommand final : public Command {
 public:
  std::string name() const override { return "demo"; }
  std::string description() const override {
    return "Show everything on this machine: an emulated device, the daemon, its users";
  }

  void Define(CLI::App& app) override {
    app.add_flag("--once", once_, "show it and end, instead of staying up until Ctrl-C");
    auto* const trace =
        app.add_option("--trace", waveform_.trace, "a waveform (VCD, plain or gzip) to run on, repeated");
    auto* const signals = app.add_option("--signals", waveform_.signals, "its signal map (JSON)");
    auto* const schedule = app.add_option("--schedule", waveform_.schedule, "its schedule (CSV)");
    trace->needs(signals)->needs(schedule);
    signals->needs(trace);
    schedule->needs(trace);
    app.footer(
        "Examples:\n"
        "  sideband demo --once\n"
        "  sideband demo --trace gpu.vcd.gz --signals gpu.signals.json --schedule gpu.schedule.csv");
  }

  absl::Status Run(CommandContext& context) override {
    const InterruptWatcher watcher(context.cancellation());
    const std::string mcu = FindProgram("sideband-mcu", "secure_mcu");
    Scenario scenario = BuiltInScenario();
    if (!waveform_.trace.empty()) {
      SIDEBAND_ASSIGN_OR_RETURN(scenario, WaveformScenario(waveform_, mcu));
    }
    SIDEBAND_ASSIGN_OR_RETURN(const std::string folder, MakeFolder());
    const absl::Status status = Show(context, scenario, mcu, folder);
    std::error_code error;
    std::filesystem::remove_all(folder, error);
    return status;
  }

 private:
  absl::Status Show(CommandContext& context, const Scenario& scenario, const std::string& mcu,
                    const std::string& folder) {
    SIDEBAND_RETURN_IF_ERROR(WriteDemoSite(folder, scenario.vms, scenario.chip_file));
    SIDEBAND_ASSIGN_OR_RETURN(const auto device, ChildProcess::Start({"env", "-C", folder, mcu, "serve", "--chip",
                                                                      "chip.yaml", "--bus", "unix:gpu0.sock"},
                                                                     folder + "/sideband-mcu.log"));
    SIDEBAND_ASSIGN_OR_RETURN(
        const auto daemon,
        ChildProcess::Start({"env", "-C", folder, FindProgram("sidebandd", "daemon"), "--config", "sidebandd.yaml"},
                            folder + "/sidebandd.log"));
    SIDEBAND_RETURN_IF_ERROR(AwaitReady(context, *device, *daemon, folder));
    SIDEBAND_ASSIGN_OR_RETURN(const DemoPorts ports, ReadPorts(folder));
    SIDEBAND_RETURN_IF_ERROR(context.out().Write(absl::StrCat(
        "An emulated device is on the virtual bus ", folder,
        "/gpu0.sock,\nsidebandd serves gRPC on localhost:", ports.grpc, " and HTTPS on localhost:", ports.http,
        ".\nTo repeat what follows in another terminal:\n\n  cd ", folder, "\n  PATH=", OwnFolder(), ":$PATH\n")));
    for (const DemoStep& step : MakeDemoSteps(scenario.vms, ports, scenario.events)) {
      if (context.cancellation().cancelled()) return absl::OkStatus();
      SIDEBAND_RETURN_IF_ERROR(Take(context, step, folder));
    }
    return once_ ? context.out().Write("\nAll of it was as it should be.\n") : StayUp(context, *device, *daemon);
  }

  // Ready, and with two snapshots, so that there are rates.
  static absl::Status AwaitReady(CommandContext& context, ChildProcess& device, ChildProcess& daemon,
                                 const std::string& folder) {
    for (absl::Duration waited; waited < kStartPatience && !context.cancellation().cancelled(); waited += kPoll) {
      SIDEBAND_RETURN_IF_ERROR(CheckAlive(device, "sideband-mcu", folder));
      SIDEBAND_RETURN_IF_ERROR(CheckAlive(daemon, "sidebandd", folder));
      const auto ports = ReadPorts(folder);
      if (ports.ok()) {
        SIDEBAND_RETURN_IF_ERROR(WriteClientConfigs(folder, *ports));
        SIDEBAND_ASSIGN_OR_RETURN(const ShellResult ready, RunShell(InFolder(folder, ReadyProbe(*ports))));
        if (ready.exit_status == 0) return absl::OkStatus();
      }
      absl::SleepFor(kPoll);
    }
    return context.cancellation().cancelled() ? absl::CancelledError("interrupted")
                                              : absl::DeadlineExceededError("sidebandd did not become ready");
  }

  static std::string ReadyProbe(const DemoPorts& ports) {
    return absl::StrCat("curl -sSf --cacert ca.pem --cert operator.pem --key operator.key https://localhost:",
                        ports.http, "/-/ready && sideband --config operator.yaml watch --count 2");
  }

  static absl::Status CheckAlive(ChildProcess& program, const std::string& name, const std::string& folder) {
    if (!program.ExitStatus()) return absl::OkStatus();
    const auto log = ReadFile(absl::StrCat(folder, "/", name, ".log"));
    return absl::UnavailableError(absl::StrCat(name, " ended: ", log.ok() ? LastLine(*log) : "it left no log"));
  }

  static std::string InFolder(const std::string& folder, const std::string& command) {
    return absl::StrCat("cd ", ShellQuoted(folder), " && PATH=", ShellQuoted(OwnFolder()), ":$PATH && { ", command,
                        "; }");
  }

  static absl::Status Take(CommandContext& context, const DemoStep& step, const std::string& folder) {
    SIDEBAND_RETURN_IF_ERROR(context.out().Write(absl::StrCat("\n", step.title, "\n  $ ", step.command, "\n")));
    SIDEBAND_ASSIGN_OR_RETURN(const ShellResult result, RunShell(InFolder(folder, step.command)));
    std::string shown;
    for (const auto& line : absl::StrSplit(absl::StripSuffix(result.output, "\n"), '\n')) {
      absl::StrAppend(&shown, "    ", line, "\n");
    }
    SIDEBAND_RETURN_IF_ERROR(context.out().Write(shown));
    const std::string wrong = CheckStep(step, result.exit_status, result.output);
    // An interrupted step proves nothing.
    if (wrong.empty() || context.cancellation().cancelled()) return absl::OkStatus();
    return absl::InternalError(absl::StrCat("the demonstration failed at '", step.command, "': ", wrong));
  }

  static absl::Status StayUp(CommandContext& context, ChildProcess& device, ChildProcess& daemon) {
    SIDEBAND_RETURN_IF_ERROR(context.out().Write("\nIt stays up; Ctrl-C ends it.\n"));
    absl::Notification interrupted;
    const Cancellation::Hook hook(context.cancellation(), [&interrupted] { interrupted.Notify(); });
    while (!interrupted.WaitForNotificationWithTimeout(absl::Milliseconds(200))) {
      if (device.ExitStatus() || daemon.ExitStatus()) return absl::UnavailableError("a program of the demo has ended");
    }
    return absl::OkStatus();
  }

  bool once_ = false;
  DemoWaveform waveform_;
};

}  // namespace

std::unique_ptr<Command> NewDemoCommand() { return std::make_unique<DemoCommand>(); }

}  // namespace sideband::client
