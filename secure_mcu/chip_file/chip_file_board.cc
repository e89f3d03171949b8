// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/errors.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "proto/mailbox/board_items.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/memory_links.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/chip_file/chip_file_sections.h"

namespace sideband::mcu {
namespace {

constexpr double kWattsMax = 10'000;
constexpr double kDegreesMin = 0, kDegreesMax = 200;
constexpr uint64_t kMbpsMax = 1'000'000;
constexpr absl::Duration kTimeConstantMin = absl::Milliseconds(1), kTimeConstantMax = absl::Hours(1);

absl::StatusOr<double> Milliwatts(const YamlMap& map, const std::string& key, double otherwise_mw) {
  SIDEBAND_ASSIGN_OR_RETURN(const double watts, NumberField(map, key, otherwise_mw / 1000, {0, kWattsMax}));
  return watts * 1000;
}

absl::Status ReadEnergies(const YamlMap& power, ChipFile& file) {
  const auto node = power.Find("event_pj");
  if (!node) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const auto entries, node->Entries());
  for (const auto& [event, value] : entries) {
    const auto pj = value.Number(0, 1e12);
    if (!pj.ok()) return value.Error(absl::StrCat("energy of '", event, "' must be a number from 0 to 1e+12"));
    file.event_pj.push_back({event, *pj, value.line()});
  }
  return absl::OkStatus();
}

absl::Status ReadThermal(const YamlMap& board, BoardSpec& spec) {
  const auto node = board.Find("thermal");
  if (!node) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node->Map({"target_c", "software_slowdown_c", "slowdown_c", "shutdown_c",
                                                          "memory_slowdown_c"}));
  ThermalLimits limits;
  for (const auto& [key, value] :
       {std::pair("target_c", &limits.target_c), std::pair("software_slowdown_c", &limits.software_slowdown_c),
        std::pair("slowdown_c", &limits.slowdown_c), std::pair("shutdown_c", &limits.shutdown_c),
        std::pair("memory_slowdown_c", &limits.memory_slowdown_c)}) {
    SIDEBAND_ASSIGN_OR_RETURN(*value, NumberField(map, key, *value, {kDegreesMin, kDegreesMax}));
  }
  const bool ascends = limits.software_slowdown_c <= limits.slowdown_c && limits.slowdown_c <= limits.shutdown_c;
  if (!ascends) return node->Error("software_slowdown_c, slowdown_c and shutdown_c must be in ascending order");
  spec.thermal = limits;
  return absl::OkStatus();
}

absl::Status ReadPowerLimit(const YamlMap& board, BoardSpec& spec) {
  const auto node = board.Find("power_limit");
  if (!node) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node->Map({"least_w", "most_w", "default_w"}));
  PowerLimits limits;
  for (const auto& [key, value] : {std::pair("least_w", &limits.least_mw), std::pair("most_w", &limits.most_mw),
                                   std::pair("default_w", &limits.default_mw)}) {
    SIDEBAND_ASSIGN_OR_RETURN(const double mw, Milliwatts(map, key, *value));
    *value = static_cast<uint32_t>(std::lround(mw));
  }
  if (limits.least_mw > limits.default_mw || limits.default_mw > limits.most_mw) {
    return node->Error("default_w must be from least_w to most_w");
  }
  spec.power_limit = limits;
  return absl::OkStatus();
}

absl::Status ReadMemorySensor(const YamlMap& board, BoardSpec& spec) {
  const auto node = board.Find("memory");
  if (!node) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node->Map({"events", "idle_w", "c_per_watt"}));
  MemorySensorSpec memory;
  SIDEBAND_ASSIGN_OR_RETURN(const auto events, map.ListOrEmpty("events"));
  for (const YamlNode& event : events) {
    SIDEBAND_ASSIGN_OR_RETURN(memory.events.emplace_back(), event.String());
  }
  SIDEBAND_ASSIGN_OR_RETURN(memory.idle_mw, Milliwatts(map, "idle_w", memory.idle_mw));
  SIDEBAND_ASSIGN_OR_RETURN(memory.c_per_watt, NumberField(map, "c_per_watt", memory.c_per_watt, {0, 10}));
  spec.memory = std::move(memory);
  return absl::OkStatus();
}

absl::Status ReadModule(const YamlMap& board, BoardSpec& spec) {
  const auto node = board.Find("module");
  if (!node) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node->Map({"overhead_w"}));
  SIDEBAND_ASSIGN_OR_RETURN(spec.module_overhead_mw, Milliwatts(map, "overhead_w", 0));
  return absl::OkStatus();
}

absl::Status ReadLinks(const YamlMap& board, BoardSpec& spec) {
  if (const auto node = board.Find("nvlink")) {
    SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node->Map({"count", "mbps"}));
    SIDEBAND_ASSIGN_OR_RETURN(const YamlNode count_node, map.Get("count"));
    SIDEBAND_ASSIGN_OR_RETURN(const uint64_t count, UintValue(count_node, "count", {1, mailbox::kNvlinksMax}));
    spec.nvlink = NvlinkSpec{.count = static_cast<uint8_t>(count)};
    SIDEBAND_RETURN_IF_ERROR(Uint32Field(map, "mbps", {1, kMbpsMax}, spec.nvlink->mbps));
  }
  if (const auto node = board.Find("pcie")) {
    SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node->Map({"generation", "lanes"}));
    PcieSpec pcie;
    SIDEBAND_ASSIGN_OR_RETURN(const uint64_t generation,
                              UintField(map, "generation", pcie.generation, {1, mailbox::kPcieSpeedMax}));
    SIDEBAND_ASSIGN_OR_RETURN(const uint64_t lanes, UintField(map, "lanes", pcie.lanes, {1, 32}));
    if (std::ranges::find(mailbox::kPcieWidths, lanes) == mailbox::kPcieWidths.end()) {
      return node->Error(absl::StrCat("lanes is ", lanes, ", must be 1, 2, 4, 8, 16 or 32"));
    }
    spec.pcie = PcieSpec{.generation = static_cast<uint8_t>(generation), .lanes = static_cast<uint8_t>(lanes)};
  }
  return absl::OkStatus();
}

absl::Status ReadMemoryErrors(const YamlMap& board, BoardSpec& spec) {
  if (const auto node = board.Find("ecc")) {
    SIDEBAND_ASSIGN_OR_RETURN(const uint64_t generation, UintValue(*node, "ecc",
                                                                   {static_cast<uint64_t>(EccGeneration::kV2),
                                                                    static_cast<uint64_t>(EccGeneration::kV6)}));
    spec.ecc = static_cast<EccGeneration>(generation);
  }
  SIDEBAND_ASSIGN_OR_RETURN(spec.row_remapping, BoolField(board, "row_remapping", false));
  SIDEBAND_ASSIGN_OR_RETURN(spec.page_retirement, BoolField(board, "page_retirement", false));
  return absl::OkStatus();
}

// The clock of recorded and of programmed wires is theirs.
absl::Status ReadThrottle(const YamlMap& board, ChipFile& file) {
  const auto node = board.Find("throttle");
  if (!node) return absl::OkStatus();
  if (file.waveform || !file.programs.empty()) return node->Error("throttle needs units with workloads");
  SIDEBAND_ASSIGN_OR_RETURN(file.board.throttled_domain, FindDomain(*node, file));
  const DomainSpec& domain = file.pipeline.domains[file.board.throttled_domain - 1];
  if (!domain.clock.levels.empty()) return absl::OkStatus();
  return node->Error(absl::StrCat("domain '", domain.name, "' has no 'levels' to which its clock could be set"));
}

absl::Status ReadServices(const YamlMap& board, BoardSpec& spec) {
  for (const auto& [key, value] :
       {std::pair("power_connector", &spec.power_connector), std::pair("write_protection", &spec.write_protection),
        std::pair("driver_events", &spec.driver_events), std::pair("bundles", &spec.bundles)}) {
    SIDEBAND_ASSIGN_OR_RETURN(*value, BoolField(board, key, true));
  }
  return absl::OkStatus();
}

absl::Status CheckEvent(const ChipFile& file, size_t line, absl::string_view key, const std::string& event,
                        const EventTable& events) {
  if (events.Find(event)) return absl::OkStatus();
  return LineError(file.path, line,
                   absl::StrCat(key, ": unknown event '", event, "'", DidYouMean(event, events.names())));
}

}  // namespace

absl::Status ReadPower(const YamlMap& root, ChipFile& file) {
  const auto node = root.Find("power");
  if (!node) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map,
                            node->Map({"idle_w", "ambient_c", "c_per_watt", "time_constant", "event_pj"}));
  PowerModel::Config& power = file.power;
  SIDEBAND_ASSIGN_OR_RETURN(power.idle_mw, Milliwatts(map, "idle_w", power.idle_mw));
  SIDEBAND_ASSIGN_OR_RETURN(power.ambient_c, NumberField(map, "ambient_c", power.ambient_c, {-50, 100}));
  SIDEBAND_ASSIGN_OR_RETURN(power.c_per_watt, NumberField(map, "c_per_watt", power.c_per_watt, {0, 10}));
  SIDEBAND_ASSIGN_OR_RETURN(
      const absl::Duration time_constant,
      DurationField(map, "time_constant", absl::Seconds(power.time_constant_s), {kTimeConstantMin, kTimeConstantMax}));
  power.time_constant_s = absl::ToDoubleSeconds(time_constant);
  return ReadEnergies(map, file);
}

absl::Status ReadBoard(const YamlMap& root, ChipFile& file) {
  const auto node = root.Find("board");
  if (!node) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map,
                            node->Map({"name", "thermal", "power_limit", "memory", "module", "throttle", "ecc",
                                       "row_remapping", "page_retirement", "nvlink", "pcie", "power_connector",
                                       "write_protection", "driver_events", "bundles"}));
  file.board_line = node->line();
  SIDEBAND_ASSIGN_OR_RETURN(file.board.name,
                            PrintableField(map, "name", "", mailbox::FindSysId(mailbox::SysId::kMarketingName)->bytes));
  SIDEBAND_RETURN_IF_ERROR(ReadThermal(map, file.board));
  SIDEBAND_RETURN_IF_ERROR(ReadPowerLimit(map, file.board));
  SIDEBAND_RETURN_IF_ERROR(ReadMemorySensor(map, file.board));
  SIDEBAND_RETURN_IF_ERROR(ReadModule(map, file.board));
  SIDEBAND_RETURN_IF_ERROR(ReadThrottle(map, file));
  SIDEBAND_RETURN_IF_ERROR(ReadMemoryErrors(map, file.board));
  SIDEBAND_RETURN_IF_ERROR(ReadLinks(map, file.board));
  return ReadServices(map, file.board);
}

absl::Status CheckEnergies(const ChipFile& file, const EventTable& events) {
  if (file.waveform) return absl::OkStatus();
  for (const EventEnergy& energy : file.event_pj) {
    SIDEBAND_RETURN_IF_ERROR(CheckEvent(file, energy.line, "power", energy.event, events));
  }
  if (!file.board.memory) return absl::OkStatus();
  for (const std::string& event : file.board.memory->events) {
    SIDEBAND_RETURN_IF_ERROR(CheckEvent(file, file.board_line, "board: memory", event, events));
  }
  return absl::OkStatus();
}

}  // namespace sideband::mcu
