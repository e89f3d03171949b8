// SPDX-License-Identifier: Apache-2.0
#include "client/demo/demo_command.h"

#include <openssl/rand.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "client/cli/console.h"
#include "client/demo/child_process.h"
#include "client/demo/demo_site.h"
#include "client/demo/demo_steps.h"
#include "client/demo/number_checks.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/base/steady_time.h"

namespace sideband::client {
namespace {

constexpr char kChipFile[] =
#include "client/demo/chip_yaml.inc"
    ;

constexpr char kRotatingChipFile[] =
#include "client/demo/chip_rotating_yaml.inc"
    ;

constexpr char kBoardChipFile[] =
#include "client/demo/chip_board_yaml.inc"
    ;

constexpr char kCompareScript[] =
#include "client/demo/compare_awk.inc"
    ;

// How often the running demonstration checks that its programs run.
constexpr absl::Duration kLook = absl::Milliseconds(200);

// Searches a program beside this one and in the build tree; otherwise leaves the search in PATH to exec.
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

std::string LastLine(const std::string& text) {
  const std::vector<std::string> lines = absl::StrSplit(absl::StripSuffix(text, "\n"), '\n');
  return lines.back();
}

// The subject of a demonstration.
struct Scenario {
  std::vector<DemoVm> vms;
  std::vector<DemoDevice> devices;  // the first, gpu0, has the VMs
  std::vector<std::string> events;  // some events with counts above 0
  Sums sums = Sums::kEqual;
  std::vector<DemoFile> files{};
  std::vector<DemoStep> more_steps{};
  std::string board{};    // the device that is a board alone; empty: none is
  std::string closing{};  // what a reader of the page may wonder about; empty: nothing
};

// The programs beside the daemon, by the names of their logs: one of each device, and one that plays a BMC.
using Programs = std::map<std::string, std::unique_ptr<ChildProcess>>;

constexpr char kBmc[] = "bmc";

// Hexadecimal digits, so that it is one word everywhere.
absl::StatusOr<std::string> RandomPassword() {
  std::array<unsigned char, 16> bytes;
  if (RAND_bytes(bytes.data(), bytes.size()) != 1) return absl::InternalError("the system returned no random bytes");
  return absl::BytesToHexString({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

// The URL in the whole line "listening: URL" of a log; empty: there is none yet.
std::string ListeningUrl(const std::string& log) {
  for (const absl::string_view line : absl::StrSplit(log.substr(0, log.rfind('\n') + 1), '\n')) {
    if (absl::StartsWith(line, "listening: ")) return std::string(absl::StripPrefix(line, "listening: "));
  }
  return "";
}

// Names become label values, file names and words of shell commands.
absl::Status CheckName(const DemoWaveform& waveform, const std::string& name) {
  constexpr char kAllowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  if (!name.empty() && name[0] != '.' && name[0] != '-' && name.find_first_not_of(kAllowed) == std::string::npos) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      waveform.schedule, ": the demonstration needs names of letters, digits, '_', '.' and '-', not '", name, "'"));
}

// Whether a VM or a context counts it. An event of the whole device does not show beside a confidential VM.
bool IsCountedForVms(const nlohmann::json& blocks, const std::string& event) {
  return std::any_of(blocks.begin() + 1, blocks.end(),
                     [&](const auto& block) { return block["counters"][event] != 0; });
}

// The first events that have counts to show, at least one.
absl::StatusOr<std::vector<std::string>> WaveformEvents(const DemoWaveform& waveform, const nlohmann::json& blocks) {
  constexpr size_t kEvents = 2;
  std::vector<std::string> events;
  for (const auto& item : blocks[0]["counters"].items()) {
    const std::string& event = item.key();
    if (event.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string::npos ||
        event.find_first_of("0123456789") == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(waveform.signals, ": event '", event, "' must be made of a-z, 0-9 and '_' to be served"));
    }
    // Metrics of such events have other names (docs/metrics.md).
    const bool is_renamed = absl::EndsWith(event, "_total") || absl::EndsWith(event, "_ratio");
    const bool is_shown = !is_renamed && IsCountedForVms(blocks, event);
    if (is_shown && events.size() < kEvents) events.push_back(event);
  }
  if (!events.empty()) return events;
  return absl::InvalidArgumentError(absl::StrCat(waveform.signals,
                                                 ": the demonstration needs an event that happens while a VM is "
                                                 "resident, without \"scope\": \"device\" and with a "
                                                 "name that does not end in _total or _ratio"));
}

// Replays the waveform once, which finds mistakes in its files and lists its VMs and events.
absl::StatusOr<Scenario> WaveformScenario(const DemoWaveform& waveform, const std::string& mcu, Output& out) {
  // Standard error, including warnings, is printed before the JSON.
  SIDEBAND_ASSIGN_OR_RETURN(
      const ShellResult replay,
      RunShell(absl::StrCat("json=$(", ShellQuoted(mcu), " replay --signals ", ShellQuoted(waveform.signals),
                            " --trace ", ShellQuoted(waveform.trace), " --schedule ", ShellQuoted(waveform.schedule),
                            ") && printf %s \"$json\""),
               [&out] { out.Write("The dry run of the waveform goes on …\n").IgnoreError(); }));
  if (replay.exit_status != 0) {
    const std::string line = LastLine(replay.output);
    return absl::InvalidArgumentError(absl::StripPrefix(line, "sideband-mcu: "));
  }
  const size_t line_before = replay.output.rfind("\n{");
  const size_t warnings = line_before == std::string::npos ? 0 : line_before + 1;
  SIDEBAND_RETURN_IF_ERROR(out.Write(replay.output.substr(0, warnings)));
  const auto result = nlohmann::json::parse(replay.output.substr(warnings), nullptr, /*allow_exceptions=*/false);
  if (result.is_discarded()) return absl::InternalError("sideband-mcu replay printed no JSON");
  SIDEBAND_RETURN_IF_ERROR(out.Write(WarningOfShortWaveform(result["cycles"])));
  std::vector<std::pair<std::string, std::vector<std::string>>> vms;
  for (const auto& block : result["blocks"]) {
    const std::string vm = block["vm"];
    // vm0 is the whole device, which is not a tenant's VM.
    if (vm == "vm0") continue;
    SIDEBAND_RETURN_IF_ERROR(CheckName(waveform, vm));
    if (!block["context"].is_null()) SIDEBAND_RETURN_IF_ERROR(CheckName(waveform, block["context"]));
    if (block["context"].is_null()) vms.push_back({vm, {}});
    if (!block["context"].is_null()) vms.back().second.push_back(block["context"]);
  }
  if (vms.empty())
    return absl::InvalidArgumentError(absl::StrCat(waveform.schedule, ": no VM is resident at any time"));
  // A device's and a VM's counts include those of contexts that have ended.
  Scenario scenario{.vms = WaveformVms(vms), .sums = Sums::kAtMost};
  const bool seals = std::ranges::any_of(scenario.vms, &DemoVm::confidential);
  scenario.devices = {{.name = "gpu0", .chip_file = WaveformChipFile(waveform, scenario.vms), .seals = seals}};
  SIDEBAND_ASSIGN_OR_RETURN(scenario.events, WaveformEvents(waveform, result["blocks"]));
  if (seals) {
    SIDEBAND_RETURN_IF_ERROR(out.Write(absl::StrCat(scenario.vms.back().name,
                                                    ", the last VM of the schedule to appear, is confidential here: "
                                                    "the demo shows what is hidden of such a VM.\n")));
  }
  return scenario;
}

Scenario BuiltInScenario() {
  return {.vms = BuiltInVms(),
          .devices = {{.name = "gpu0", .chip_file = BuiltInChipFile(kChipFile), .has_grid = true, .seals = true},
                      {"gpu1", RotatingChipFile(kRotatingChipFile)},
                      {"gpu2", ExactTwinFile(kRotatingChipFile)},
                      {.name = "gpu3", .chip_file = BoardChipFile(kBoardChipFile), .is_board = true}},
          .events = {"tensor_active_cycles", "dram_read_cycles"},
          .files = {{"compare.awk", kCompareScript}},
          .more_steps = RotationSteps("gpu1", "gpu2"),
          .board = "gpu3",
          .closing =
              "gpu1 and gpu2 stand still at 0 %: their contexts have ended after a second, so that both devices "
              "have counted the same work.\n"};
}

class DemoCommand final : public Command {
 public:
  std::string name() const override { return "demo"; }
  std::string description() const override {
    return "Show everything on this machine: an emulated device, the daemon, its users";
  }

  void Define(CLI::App& app) override {
    app.add_flag("--once", once_, "Show it and end, instead of running until Ctrl-C");
    auto* const trace =
        app.add_option("--trace", waveform_.trace, "A waveform (VCD, plain, gzip or zstd; FST) to run on, repeated")
            ->type_name("FILE");
    auto* const signals =
        app.add_option("--signals", waveform_.signals, "Its signal map (YAML or JSON)")->type_name("FILE");
    auto* const schedule = app.add_option("--schedule", waveform_.schedule, "Its schedule (CSV)")->type_name("FILE");
    app.add_option("--bmc", bmc_,
                   "A program that plays a BMC, as tests/bmc/mock_bmc.py of the sources does: its GPUs are shown, too")
        ->type_name("FILE");
    trace->needs(signals)->needs(schedule);
    signals->needs(trace);
    schedule->needs(trace);
    app.footer(
        "Examples:\n"
        "  sideband demo --once\n"
        "  sideband demo --bmc tests/bmc/mock_bmc.py\n"
        "  sideband demo --trace gpu.vcd.gz --signals gpu.signals.json --schedule gpu.schedule.csv");
  }

  absl::Status Run(CommandContext& context) override {
    const InterruptWatcher watcher(context.cancellation());
    // A program that cannot start would leave nothing but an empty log.
    if (!bmc_.empty() && access(bmc_.c_str(), X_OK) != 0) {
      return absl::InvalidArgumentError(ErrnoStatus(errno, bmc_).message());
    }
    const std::string mcu = FindProgram("sideband-mcu", "secure_mcu");
    Scenario scenario = BuiltInScenario();
    if (!waveform_.trace.empty()) {
      SIDEBAND_ASSIGN_OR_RETURN(scenario, WaveformScenario(waveform_, mcu, context.out()));
    }
    SIDEBAND_ASSIGN_OR_RETURN(const std::string folder, MakeDemoFolder());
    const absl::Status status = Show(context, scenario, mcu, folder);
    if (status.ok() || absl::IsCancelled(status) || context.cancellation().cancelled()) {
      RemoveDemoFolder(folder);
      return status;
    }
    KeepOnlyLogs(folder);
    return absl::Status(status.code(), absl::StrCat(status.message(), "; the programs' logs are kept in ", folder));
  }

 private:
  absl::Status Show(CommandContext& context, const Scenario& scenario, const std::string& mcu,
                    const std::string& folder) {
    SIDEBAND_RETURN_IF_ERROR(WriteDemoSite(folder, scenario.vms, scenario.devices, scenario.files));
    Programs programs;
    for (const DemoDevice& device : scenario.devices) {
      SIDEBAND_RETURN_IF_ERROR(StartDevice(device, mcu, folder, programs));
    }
    if (!bmc_.empty()) SIDEBAND_RETURN_IF_ERROR(StartBmc(context, folder, programs));
    SIDEBAND_ASSIGN_OR_RETURN(
        const auto daemon,
        ChildProcess::Start({"env", "-C", folder, FindProgram("sidebandd", "daemon"), "--config", "sidebandd.yaml"},
                            folder + "/sidebandd.log"));
    SIDEBAND_RETURN_IF_ERROR(AwaitStart(context, programs, *daemon, folder));
    SIDEBAND_ASSIGN_OR_RETURN(const DemoPorts ports, ReadPorts(folder));
    SIDEBAND_RETURN_IF_ERROR(context.out().Write(
        absl::StrCat(EmulatedDevices(scenario, folder), ",\nsidebandd serves gRPC on 127.0.0.1:", ports.grpc,
                     " and HTTPS on 127.0.0.1:", ports.http, ".\n", HowToRepeat(folder))));
    for (const DemoStep& step : StepsOf(scenario, ports)) {
      if (context.cancellation().cancelled()) return absl::OkStatus();
      SIDEBAND_RETURN_IF_ERROR(step.counts_of.empty() ? Take(context, step, folder)
                                                      : Search(context, step, folder, daemon->pid()));
    }
    if (once_) return context.out().Write("\nEverything was as expected.\n");
    SIDEBAND_RETURN_IF_ERROR(context.out().Write(absl::StrCat("\nThe demo runs until Ctrl-C. In another terminal:\n\n",
                                                              OtherTerminal(folder), WaysIn(ports), scenario.closing)));
    return StayUp(context, programs, *daemon);
  }

  std::vector<DemoStep> StepsOf(const Scenario& scenario, const DemoPorts& ports) const {
    std::vector<DemoStep> steps = MakeDemoSteps(scenario.vms, ports, scenario.events, scenario.sums);
    steps.insert(steps.end(), scenario.more_steps.begin(), scenario.more_steps.end());
    if (!bmc_.empty()) steps.push_back(BmcStep());
    if (scenario.board.empty()) return steps;
    const std::vector<DemoStep> of_board = BoardSteps(scenario.board, "tenant-a", ports);
    steps.insert(steps.end(), of_board.begin(), of_board.end());
    return steps;
  }

  // Only the first has guests.
  static absl::Status StartDevice(const DemoDevice& device, const std::string& mcu, const std::string& folder,
                                  Programs& programs) {
    const std::string& name = device.name;
    std::vector<std::string> command = {
        "env", "-C", folder, mcu, "serve", "--chip", name + ".yaml", "--bus", absl::StrCat("unix:", name, ".sock")};
    if (programs.empty()) command.insert(command.end(), {"--guest-ports", "guests"});
    if (device.is_board) command.insert(command.end(), {"--persona", "nvidia"});
    const std::string program = absl::StrCat("sideband-mcu-", name);
    SIDEBAND_ASSIGN_OR_RETURN(programs[program],
                              ChildProcess::Start(command, absl::StrCat(folder, "/", program, ".log")));
    return absl::OkStatus();
  }

  // Has a BMC played, and the daemon read it.
  absl::Status StartBmc(CommandContext& context, const std::string& folder, Programs& programs) const {
    const std::string own_folder = absl::StrCat(folder, "/", kBmc);
    if (mkdir(own_folder.c_str(), 0700) != 0) return ErrnoStatus(errno, own_folder);
    const std::string log = own_folder + ".log";
    SIDEBAND_ASSIGN_OR_RETURN(const std::string password, RandomPassword());
    // A path without a slash would be searched in PATH.
    SIDEBAND_ASSIGN_OR_RETURN(
        programs[kBmc], ChildProcess::Start({std::filesystem::absolute(bmc_).string(), "--machine", "hgx", "--gpus",
                                             "2", "--folder", own_folder, "--user", kBmcUser, "--password", password,
                                             "--ca-file", folder + "/bmc-ca.pem"},
                                            log));
    std::string url;
    const auto probe = [&]() -> absl::StatusOr<std::string> {
      if (context.cancellation().cancelled()) return absl::CancelledError("interrupted");
      SIDEBAND_RETURN_IF_ERROR(CheckAlive(*programs[kBmc], kBmc, folder));
      SIDEBAND_ASSIGN_OR_RETURN(const std::string text, ReadFile(log));
      url = ListeningUrl(text);
      return url.empty() ? "it has not printed 'listening: URL'" : "";
    };
    SIDEBAND_RETURN_IF_ERROR(AwaitReady(bmc_, {}, probe, Reporter(context)));
    return AddBmc(folder, url, password);
  }

  static std::string EmulatedDevices(const Scenario& scenario, const std::string& folder) {
    std::vector<std::string> buses;
    for (const DemoDevice& device : scenario.devices) buses.push_back(device.name + ".sock");
    if (buses.size() == 1) return absl::StrCat("An emulated device is on the virtual bus ", folder, "/", buses[0]);
    return absl::StrCat("Emulated devices are on the virtual buses ", absl::StrJoin(buses, ", "), " in ", folder);
  }

  // For repeating the commands. With --once the folder is removed before they could be repeated.
  std::string HowToRepeat(const std::string& folder) const {
    if (once_) return "Without --once the demo keeps running, and you can repeat what follows in another terminal.\n";
    return absl::StrCat("To repeat what follows in another terminal:\n\n", OtherTerminal(folder));
  }

  static std::string OtherTerminal(const std::string& folder) {
    return absl::StrCat("  cd ", folder, "\n  PATH=", OwnFolder(), ":$PATH\n");
  }

  static std::function<void(const std::string& line)> Reporter(CommandContext& context) {
    return [&context](const std::string& line) {
      context.out().Write(line).IgnoreError();  // a permanent output error is returned by the next write
    };
  }

  // Waits until the daemon is ready and has published two snapshots of gpu0, so that rates are available, and values of
  // a BMC's GPUs.
  absl::Status AwaitStart(CommandContext& context, Programs& programs, ChildProcess& daemon,
                          const std::string& folder) const {
    const auto probe = [&]() -> absl::StatusOr<std::string> {
      if (context.cancellation().cancelled()) return absl::CancelledError("interrupted");
      for (const auto& [name, program] : programs) SIDEBAND_RETURN_IF_ERROR(CheckAlive(*program, name, folder));
      SIDEBAND_RETURN_IF_ERROR(CheckAlive(daemon, "sidebandd", folder));
      return WhyNotReady(folder);
    };
    return AwaitReady("sidebandd", {}, probe, Reporter(context));
  }

  // Returns an empty text if the daemon is ready.
  absl::StatusOr<std::string> WhyNotReady(const std::string& folder) const {
    const auto ports = ReadPorts(folder);
    if (!ports.ok()) return std::string(ports.status().message());
    SIDEBAND_RETURN_IF_ERROR(WriteClientConfigs(folder, *ports));
    SIDEBAND_ASSIGN_OR_RETURN(const ShellResult probe, RunShell(InFolder(folder, ReadyProbe(*ports))));
    if (probe.exit_status == 0) return bmc_.empty() ? "" : WhyNoValues(folder);
    return probe.output.empty() ? absl::StrCat("exit status ", probe.exit_status) : LastLine(probe.output);
  }

  // Returns an empty text if a BMC's GPUs have the values that its step shows.
  static absl::StatusOr<std::string> WhyNoValues(const std::string& folder) {
    const DemoStep step = BmcStep();
    SIDEBAND_ASSIGN_OR_RETURN(const ShellResult result, RunShell(InFolder(folder, step.command)));
    if (CheckStep(step, result.exit_status, result.output).empty()) return "";
    SIDEBAND_ASSIGN_OR_RETURN(const std::string log, ReadFile(folder + "/sidebandd.log"));
    return absl::StrCat("the BMC's GPUs have no values yet; the last line of sidebandd.log: ", LastLine(log));
  }

  // Prints the lines of devices that are not fresh, or curl's error. A BMC's GPUs have no line until they are found.
  static std::string ReadyProbe(const DemoPorts& ports) {
    return absl::StrCat(
        "! curl -sS --max-time 5 --cacert ca.pem --cert operator.pem --key operator.key https://127.0.0.1:", ports.http,
        "/-/ready 2>&1 | grep -v ': fresh, ' && sideband --config operator.yaml watch --device gpu0 --count 2");
  }

  static absl::Status CheckAlive(ChildProcess& program, const std::string& name, const std::string& folder) {
    if (!program.ExitStatus()) return absl::OkStatus();
    const auto log = ReadFile(absl::StrCat(folder, "/", name, ".log"));
    return absl::UnavailableError(
        absl::StrCat(name, " ended: ", log.ok() && !log->empty() ? LastLine(*log) : "it left no log"));
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
    // A failure of an interrupted step is no evidence of a defect.
    if (wrong.empty() || context.cancellation().cancelled()) return absl::OkStatus();
    return absl::InternalError(absl::StrCat("the demonstration failed at '", step.command, "': ", wrong));
  }

  // The schedule repeats: residency of any other context may be the same number.
  static bool FollowsFromSchedule(const std::string& event) {
    return event == "resident_cycles" || absl::EndsWith(event, "_running_cycles");
  }

  // Small numbers of a record may be elsewhere by chance: only large ones tell.
  static absl::StatusOr<std::vector<uint64_t>> TellingCounts(const std::string& path) {
    SIDEBAND_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    const auto record = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    std::vector<uint64_t> counts;
    if (record.is_discarded()) return absl::DataLossError(absl::StrCat(path, ": no record"));
    for (const auto& scope : record["snapshot"]["scopes"]) {
      for (const auto& counter : scope["counters"]) {
        uint64_t count = 0;
        const bool is_number = absl::SimpleAtoi(counter.value("count", ""), &count);
        if (FollowsFromSchedule(counter.value("event", ""))) continue;
        if (is_number && count >= kTellingNumberMin) counts.push_back(count);
      }
    }
    return counts;
  }

  static absl::Status Search(CommandContext& context, const DemoStep& step, const std::string& folder, pid_t daemon) {
    SIDEBAND_ASSIGN_OR_RETURN(const std::vector<uint64_t> counts,
                              TellingCounts(absl::StrCat(folder, "/", step.counts_of)));
    if (counts.empty()) {
      return context.out().Write(absl::StrCat("\n", step.title, "\n    not searched: no count is above 2^32 yet\n"));
    }
    const auto found = step.searched == DemoStep::Place::kBus ? FindInFile(counts, folder + "/gpu0.sbt")
                                                              : FindInProcess(counts, daemon);
    const std::string result = found.ok() ? absl::StrCat(*found, " of ", counts.size(), " numbers above 2^32 are there")
                                          : absl::StrCat("not searched: ", std::string(found.status().message()));
    SIDEBAND_RETURN_IF_ERROR(context.out().Write(absl::StrCat("\n", step.title, "\n    ", result, "\n")));
    // Only root reads the memory of a program that may not be dumped.
    if (absl::IsPermissionDenied(found.status())) return absl::OkStatus();
    SIDEBAND_RETURN_IF_ERROR(found.status());
    return *found == 0 ? absl::OkStatus()
                       : absl::InternalError(absl::StrCat("the demonstration failed at '", step.title, "'"));
  }

  static absl::Status StayUp(CommandContext& context, Programs& programs, ChildProcess& daemon) {
    while (!context.cancellation().cancelled()) {
      bool has_ended = daemon.ExitStatus().has_value();
      for (const auto& [name, program] : programs) has_ended |= program->ExitStatus().has_value();
      if (has_ended) return absl::UnavailableError("a program of the demo has ended");
      SteadySleep(kLook);
    }
    return absl::OkStatus();
  }

  bool once_ = false;
  DemoWaveform waveform_;
  std::string bmc_;  // the program that plays a BMC; empty: none does
};

}  // namespace

std::unique_ptr<Command> NewDemoCommand() { return std::make_unique<DemoCommand>(); }

}  // namespace sideband::client
