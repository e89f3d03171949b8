// SPDX-License-Identifier: Apache-2.0
#include "client/demo/demo_folder.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "proto/base/file.h"

namespace sideband::client {
namespace {

namespace fs = std::filesystem;

// The operator's samples of `device` that the pattern selects, without their HELP and TYPE.
std::string Samples(const std::string& families, const std::string& device, const DemoPorts& ports) {
  return absl::StrCat(ScrapeCommand("operator", ports), " | grep -E '^sideband_(", families, ").device=.", device, "'");
}

std::string Sample(const std::string& family, const std::string& device) {
  return absl::StrCat("sideband_", family, "{device=\"", device, "\"");
}

}  // namespace

std::string BoardChipFile(const std::string& example) {
  return absl::StrReplaceAll(example, {{"3e005", "3e006"}, {"SB-EMU-0005", "SB-EMU-0006"}});
}

std::vector<DemoStep> BoardSteps(const std::string& device, const std::string& tenant, const DemoPorts& ports) {
  // The first metrics come with the board's second capture.
  const std::string partitions = Repeated(Samples("partition_(sm_activity|dram_usage)_ratio", device, ports));
  return {{.title = absl::StrCat("Beside devices with counters, ", device,
                                 " is an SMBPBI-only board: it has neither a clock nor a boot of counters"),
           .command = "sideband --config operator.yaml devices",
           .present = {device, "gpu0"}},
          {.title = "… but sensors, which it reports by SMBPBI's base commands: heat, power and what slows it down",
           .command = absl::StrCat(
               Samples("temperature(_margin)?_celsius|power(_limit)?_watts|throttle_active", device, ports),
               " | grep -vE 'minimum|maximum|default'"),
           .present = {Sample("temperature_celsius", device), Sample("temperature_margin_celsius", device),
                       Sample("power_watts", device), Sample("power_limit_watts", device),
                       Sample("throttle_active", device)}},
          {.title = "… and how busy its partitions (GPU instances) and their compute instances are",
           .command = partitions,
           .present = {Sample("partition_sm_activity_ratio", device), Sample("partition_dram_usage_ratio", device)}},
          // What a board reports is of everybody on it. grep -c exits with 1 if it counts no lines.
          {.title = absl::StrCat("Lines of ", device, " in ", tenant, "'s scrape: none"),
           .command = absl::StrCat(ScrapeCommand(tenant, ports), " | grep -c '", device, "'"),
           .exit_status = 1,
           .present = {"0"}}};
}

namespace {

constexpr char kRelation[] = "  - {event: instructions_retired_cycles, is_sum_of: [instructions_issued_cycles]}\n";
constexpr char kSecondRelation[] = "  - {event: tensor_issued_cycles, is_sum_of: [tensor_active_cycles]}\n";
constexpr char kCounters[] =
    "    counters: 6\n    fixed: [instructions_issued_cycles]   # counted in every turn, and so exactly\n";
constexpr char kTurns[] =
    "rotation:\n  instructions: instructions_issued_cycles   # its rate tells even from uneven periods\n"
    "  slots: {stable: 200us, fluctuating: 100us}\n";

// Exact, estimated, derived and estimated, derived and exact.
constexpr char kShown[] =
    "instructions_issued_cycles sm_active_cycles tensor_active_cycles tensor_issued_cycles fp32_active_cycles "
    "memory_stall_cycles page_walk_cycles instructions_retired_cycles";

}  // namespace

std::string RotatingChipFile(const std::string& example) {
  return absl::StrReplaceAll(
      example, {{"      - surface_store_cycles\n", "      - {name: tensor_issued_cycles, of: tensor_active_cycles}\n"},
                {kRelation, absl::StrCat(kRelation, kSecondRelation)},
                {"name: vm1", "name: vm4"},
                {"name: vm2", "name: vm5"},
                {"slice: 0, ", "slice: 0, lifetime: 1s, restart: false, "}});
}

std::string ExactTwinFile(const std::string& example) {
  // A period of 127 cycles is too short for 40 counters.
  return absl::StrReplaceAll(RotatingChipFile(example), {{kCounters, ""},
                                                         {"relations:\n", ""},
                                                         {kRelation, ""},
                                                         {kSecondRelation, ""},
                                                         {kTurns, ""},
                                                         {"  period: 127 ", "  period: 511 "},
                                                         {"counter_bits: 7", "counter_bits: 9"},
                                                         {"3e004", "3e005"},
                                                         {"SB-EMU-0004", "SB-EMU-0005"}});
}

std::vector<DemoStep> RotationSteps(const std::string& device, const std::string& twin) {
  // The contexts of both devices end a second after the start; until then their cycles differ.
  const std::string compare = Repeated(absl::StrCat("sideband --config operator.yaml get --device ", device,
                                                    " --device ", twin, " --vm vm4 --bounds | awk -v show='", kShown,
                                                    "' -v skip='^(l2_|resident_)' -f compare.awk"));
  return {{.title = absl::StrCat(device, " multiplexes 40 events on 6 counters: what is counted together"),
           .command = absl::StrCat("sideband --config operator.yaml rotation plan --device ", device),
           .present = {"tensor_active_cycles"}},
          {.title = absl::StrCat("The estimates of vm4 beside the truth, which ", twin,
                                 " knows: it did the same work with a counter for each event"),
           .command = compare,
           .present = {"40 of 40 within their bounds"},
           .absent = {"NO"}}};
}

absl::StatusOr<std::string> MakeDemoFolder() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) {
    const char* const given = std::getenv("TMPDIR");
    return absl::InvalidArgumentError(absl::StrCat("TMPDIR=", given == nullptr ? "" : given, ": ", error.message()));
  }
  std::string folder = (parent / "sideband-demo-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return ErrnoStatus(errno, parent.string());
  return folder;
}

void RemoveDemoFolder(const std::string& folder) {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

void KeepOnlyLogs(const std::string& folder) {
  std::error_code ignored;
  std::vector<fs::path> others;
  for (fs::directory_iterator entry(folder, ignored); !ignored && entry != fs::directory_iterator();
       entry.increment(ignored)) {
    if (entry->path().extension() != ".log") others.push_back(entry->path());
  }
  for (const fs::path& path : others) fs::remove_all(path, ignored);
}

}  // namespace sideband::client
