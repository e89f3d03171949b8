// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip_file/chip_file.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/errors.h"
#include "proto/base/status_macros.h"
#include "proto/base/yaml.h"
#include "secure_mcu/chip/chip_clocks.h"
#include "secure_mcu/chip_file/chip_file_sections.h"
#include "secure_mcu/chip_file/unit_plan.h"

namespace sideband::mcu {
namespace {

// The largest gain of one counter in one cycle: the number of inputs that share it.
uint64_t GainPerCycleMax(const CcuSpec& ccu) {
  const CounterAllocation counters = AllocateCounters(ccu);
  std::vector<uint64_t> inputs(counters.meanings.size() + 1);
  for (const auto& ulc : counters.mapping) {
    for (const uint16_t counter : ulc) {
      if (counter != CounterCollectionUnit::kMasked) ++inputs[counter];
    }
  }
  return *std::max_element(inputs.begin(), inputs.end());
}

// The sizes of the SMBPBI identity fields.
constexpr size_t kSerialMax = 16;
constexpr size_t kPartNumberMax = 24;
constexpr absl::Duration kQuantumMin = absl::Microseconds(100);

// Reads `pipeline` too: the limits on its rates depend on `device.clock_hz`.
absl::Status ReadDevice(const YamlMap& root, ChipFile& file) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode node, root.Get("device"));
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"uuid", "serial", "part_number", "clock_hz"}));
  SIDEBAND_ASSIGN_OR_RETURN(file.uuid, ReadUuid(map));
  SIDEBAND_ASSIGN_OR_RETURN(file.serial, PrintableField(map, "serial", "SB-EMULATED", kSerialMax));
  SIDEBAND_ASSIGN_OR_RETURN(file.part_number, PrintableField(map, "part_number", "SIDEBAND-EMULATOR", kPartNumberMax));
  return ReadPipeline(root, map, file);
}

absl::Status ReadExtension(const YamlMap& root, ChipFile& file) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, root.StringOr("extension", "2"));
  if (text == "off") return absl::OkStatus();
  if (text != "1" && text != "2") return root.Find("extension")->Error("key 'extension' must be off, 1 or 2");
  file.extension = text == "1" ? mailbox::ExtensionVersion::kOne : mailbox::ExtensionVersion::kTwo;
  return absl::OkStatus();
}

absl::Status ReadWaveform(const YamlMap& root, ChipFile& file) {
  const auto node = root.Find("waveform");
  if (!node) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node->Map({"trace", "signals", "schedule"}));
  const std::filesystem::path folder = std::filesystem::path(file.path).parent_path();
  WaveformFileSpec waveform;
  for (const auto& [key, value] : {std::pair("trace", &waveform.trace), std::pair("signals", &waveform.signals),
                                   std::pair("schedule", &waveform.schedule)}) {
    SIDEBAND_ASSIGN_OR_RETURN(const std::string path, map.String(key));
    *value = (folder / path).string();
  }
  file.waveform = std::move(waveform);
  return absl::OkStatus();
}

absl::Status ReadHypervisor(const YamlMap& root, ChipFile& file) {
  SIDEBAND_ASSIGN_OR_RETURN(file.quantum,
                            DurationField(root, "quantum", absl::Milliseconds(2), {kQuantumMin, kTimeMax}));
  SIDEBAND_ASSIGN_OR_RETURN(file.gap,
                            DurationField(root, "gap", absl::Microseconds(20), {absl::ZeroDuration(), kTimeMax}));
  if (const auto node = root.Find("device_workload")) {
    SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node->Map({"seed", "phases", "vary"}));
    SIDEBAND_ASSIGN_OR_RETURN(file.device_workload, ReadWorkload(map));
  }
  return absl::OkStatus();
}

// The wires come from one source only: units with workloads, a waveform or programs.
absl::Status CheckWires(const YamlMap& root, const ChipFile& file) {
  for (const char* key : {"units", "device_units", "device_workload"}) {
    const auto node = root.Find(key);
    if (file.waveform && node) return node->Error("a chip has either units and workloads or a waveform");
    if (!file.programs.empty() && node) return node->Error("a chip has either units and workloads or a program");
  }
  if (file.waveform && !file.programs.empty()) {
    return root.Find("program")->Error("a chip has either a waveform or a program");
  }
  if (!file.waveform && file.units.empty()) return root.node().Error("key 'units', 'waveform' or 'program' is missing");
  if (file.device_units.empty() != file.device_workload.has_value()) return absl::OkStatus();
  const YamlNode there = root.Find(file.device_workload ? "device_workload" : "device_units").value_or(root.node());
  return there.Error("keys 'device_units' and 'device_workload' go together");
}

// Checks the rows of clock domains, which only the planned units show.
absl::Status CheckRows(const ChipFile& file, const UnitPlan& plan) {
  if (file.pipeline.domains.empty()) return absl::OkStatus();
  PipelineConfig config = file.pipeline;
  config.ccus = plan.ccus;
  const absl::Status status = CheckDomains(config);
  return status.ok() ? status : LineError(file.path, file.domains_line, status.message());
}

}  // namespace

absl::Status CheckThresholdPace(const CcuSpec& ccu, uint64_t clock_hz) {
  const uint64_t gain = GainPerCycleMax(ccu);
  // The whole content of the unit-level counters may arrive at once.
  const uint64_t lowest = gain * (kUlcHistoryCycles + CyclesBetweenMin(clock_hz));
  if (ccu.threshold == 0 || ccu.threshold >= lowest) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "threshold is ", ccu.threshold, ", must be 0 or from ", lowest, " to ", kCcuCounterMax, " (a counter of '",
      ccu.name, "' gains up to ", gain, " a cycle; ", kPerSecondMax, " triggers a second at ", clock_hz, " Hz)"));
}

absl::StatusOr<ChipFile> LoadChipFile(const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode node, YamlNode::Load(path));
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap root, node.Map({"device",       "slices",
                                                          "pipeline",     "units",
                                                          "shared_units", "device_units",
                                                          "ccus",         "device_workload",
                                                          "waveform",     "program",
                                                          "gate_groups",  "selections",
                                                          "host",         "vms",
                                                          "private_vms",  "memory",
                                                          "quantum",      "gap",
                                                          "power",        "extension",
                                                          "relations",    "rotation",
                                                          "domains",      "scheduler",
                                                          "trigger_line", "trigger_wire_ns",
                                                          "complement",   "sealing",
                                                          "board"}));
  ChipFile file{.path = path};
  SIDEBAND_RETURN_IF_ERROR(ReadDevice(root, file));
  SIDEBAND_RETURN_IF_ERROR(ReadExtension(root, file));
  SIDEBAND_RETURN_IF_ERROR(ReadPrivateVms(root, file));
  SIDEBAND_RETURN_IF_ERROR(ReadDomains(root, file));
  SIDEBAND_RETURN_IF_ERROR(ReadAllUnits(root, file));
  SIDEBAND_RETURN_IF_ERROR(FinishDomains(root, file));
  SIDEBAND_RETURN_IF_ERROR(ReadTriggerLine(root, file));
  SIDEBAND_RETURN_IF_ERROR(ReadWaveform(root, file));
  SIDEBAND_RETURN_IF_ERROR(ReadPrograms(root, file));
  SIDEBAND_RETURN_IF_ERROR(ReadGates(root, file));
  SIDEBAND_RETURN_IF_ERROR(ReadSelections(root, file));
  SIDEBAND_RETURN_IF_ERROR(ReadRotationKeys(root, file));
  SIDEBAND_RETURN_IF_ERROR(ReadVms(root, file));
  SIDEBAND_RETURN_IF_ERROR(ReadMemory(root, file));
  SIDEBAND_RETURN_IF_ERROR(ReadHypervisor(root, file));
  SIDEBAND_RETURN_IF_ERROR(ReadPower(root, file));
  SIDEBAND_RETURN_IF_ERROR(ReadBoard(root, file));
  SIDEBAND_RETURN_IF_ERROR(ReadComplement(root, file));
  SIDEBAND_RETURN_IF_ERROR(ReadSealing(root, file));
  SIDEBAND_RETURN_IF_ERROR(CheckWires(root, file));
  // Invalid units are rejected here, when the file is loaded; the device plans its units again.
  SIDEBAND_ASSIGN_OR_RETURN(UnitPlan plan, PlanUnits(file));
  SIDEBAND_RETURN_IF_ERROR(CheckRows(file, plan));
  SIDEBAND_RETURN_IF_ERROR(CheckEnergies(file, plan.events));
  file.pipeline.selections = std::move(plan.selections);
  file.pipeline.relations = std::move(plan.turns.relations);
  file.pipeline.rotation = std::move(plan.turns.rotation);
  return file;
}

}  // namespace sideband::mcu
