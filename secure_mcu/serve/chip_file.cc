// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/serve/chip_file.h"

#include <filesystem>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/base/yaml.h"
#include "proto/mailbox/catalog.h"

namespace sideband::mcu {
namespace {

constexpr uint64_t kCyclesMax = 1'000'000'000'000;
constexpr uint64_t kLatencyMax = 65'536;
constexpr uint64_t kUnitCountMax = 4096;
constexpr absl::Duration kTimeMax = absl::Hours(24);
constexpr absl::Duration kQuantumMin = absl::Microseconds(100);

absl::StatusOr<Uuid> ReadUuid(const YamlMap& map) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode node, map.Get("uuid"));
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, node.String());
  const auto uuid = Uuid::Parse(text);
  if (!uuid.ok()) return node.Locate(uuid.status());
  return *uuid;
}

// Letters, digits, '_', '-', '.': what may stand in a label and in a path.
absl::StatusOr<std::string> ReadName(const YamlMap& map) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode node, map.Get("name"));
  SIDEBAND_ASSIGN_OR_RETURN(std::string name, node.String());
  for (const unsigned char c : name) {
    if (!absl::ascii_isalnum(c) && c != '_' && c != '-' && c != '.') {
      return node.Error(absl::StrCat("name '", name, "' has characters other than letters, digits, '_', '-' and '.'"));
    }
  }
  if (name.size() > 64) return node.Error("a name has at most 64 characters");
  return name;
}

absl::StatusOr<PhaseFileSpec> ReadPhase(const YamlNode& node) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"kind", "time"}));
  SIDEBAND_ASSIGN_OR_RETURN(const std::string kind_name, map.String("kind"));
  const auto kind = sim::ParsePhaseKind(kind_name);
  if (!kind.ok()) return map.Get("kind")->Locate(kind.status());
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode time_node, map.Get("time"));
  SIDEBAND_ASSIGN_OR_RETURN(const absl::Duration time, time_node.Duration(absl::Microseconds(1), kTimeMax));
  return PhaseFileSpec{*kind, time};
}

// The keys `seed` and `phases` of a context or of the device's own workload.
absl::StatusOr<std::optional<WorkloadFileSpec>> ReadWorkload(const YamlMap& map) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto phases, map.ListOrEmpty("phases"));
  WorkloadFileSpec workload;
  SIDEBAND_ASSIGN_OR_RETURN(workload.seed, map.UintOr("seed", 0, 0, UINT64_MAX));
  for (const YamlNode& phase : phases) {
    SIDEBAND_ASSIGN_OR_RETURN(workload.phases.emplace_back(), ReadPhase(phase));
  }
  return phases.empty() ? std::nullopt : std::optional(std::move(workload));
}

absl::StatusOr<ContextFileSpec> ReadContext(const YamlNode& node, bool has_waveform) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"name", "slice", "seed", "phases"}));
  ContextFileSpec context;
  SIDEBAND_ASSIGN_OR_RETURN(context.name, ReadName(map));
  SIDEBAND_ASSIGN_OR_RETURN(const uint64_t slice, map.UintOr("slice", 0, 0, mailbox::kSlicesMax - 1));
  context.slice = static_cast<uint8_t>(slice);
  SIDEBAND_ASSIGN_OR_RETURN(context.workload, ReadWorkload(map));
  if (context.workload.has_value() == has_waveform) {
    return node.Error(has_waveform ? "a context of a waveform has no phases" : "key 'phases' is missing");
  }
  return context;
}

absl::StatusOr<VmFileSpec> ReadVm(const YamlNode& node, bool has_waveform) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"name", "uuid", "confidential", "contexts"}));
  VmFileSpec vm;
  SIDEBAND_ASSIGN_OR_RETURN(vm.name, ReadName(map));
  if (vm.name == "vm0") return node.Error("VM 'vm0' is the hypervisor: the name is reserved");
  SIDEBAND_ASSIGN_OR_RETURN(vm.uuid, ReadUuid(map));
  if (vm.uuid.is_nil()) return node.Error("the UUID of a VM must not be all zeros");
  SIDEBAND_ASSIGN_OR_RETURN(vm.confidential, map.BoolOr("confidential", false));
  SIDEBAND_ASSIGN_OR_RETURN(const auto contexts, map.ListOrEmpty("contexts"));
  std::set<std::string> names;
  for (const YamlNode& context : contexts) {
    SIDEBAND_ASSIGN_OR_RETURN(vm.contexts.emplace_back(), ReadContext(context, has_waveform));
    if (!names.insert(vm.contexts.back().name).second) {
      return context.Error(absl::StrCat("context '", vm.contexts.back().name, "' is listed twice"));
    }
  }
  return vm;
}

absl::Status ReadVms(const YamlMap& root, ChipFile& file) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto vms, root.ListOrEmpty("vms"));
  std::set<std::string> names;
  std::set<Uuid> uuids;
  for (const YamlNode& node : vms) {
    SIDEBAND_ASSIGN_OR_RETURN(VmFileSpec vm, ReadVm(node, file.waveform.has_value()));
    if (!names.insert(vm.name).second) return node.Error(absl::StrCat("VM '", vm.name, "' is listed twice"));
    if (!uuids.insert(vm.uuid).second) return node.Error(absl::StrCat("UUID ", vm.uuid.ToString(), " is used twice"));
    for (const ContextFileSpec& context : vm.contexts) {
      if (context.slice >= file.pipeline.slices) {
        return node.Error(absl::StrCat("context '", context.name, "' is on slice ", int{context.slice},
                                       ", but there are ", file.pipeline.slices, " (from 0)"));
      }
    }
    file.vms.push_back(std::move(vm));
  }
  return absl::OkStatus();
}

absl::Status CheckEventName(const YamlNode& node, const std::string& name) {
  for (const unsigned char c : name) {
    if (!absl::ascii_islower(c) && !absl::ascii_isdigit(c) && c != '_') {
      return node.Error(absl::StrCat("event '", name, "' has characters other than a-z, 0-9 and '_'"));
    }
  }
  if (absl::ascii_isdigit(static_cast<unsigned char>(name[0])))
    return node.Error("an event's name starts with a letter");
  return absl::OkStatus();
}

absl::StatusOr<UnitFileSpec> ReadUnit(const YamlNode& node) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"name", "count", "events"}));
  UnitFileSpec unit;
  SIDEBAND_ASSIGN_OR_RETURN(unit.name, ReadName(map));
  SIDEBAND_ASSIGN_OR_RETURN(const uint64_t count, map.UintOr("count", 1, 1, kUnitCountMax));
  unit.count = static_cast<uint32_t>(count);
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode events, map.Get("events"));
  SIDEBAND_ASSIGN_OR_RETURN(unit.events, events.StringList());
  if (unit.events.empty() || unit.events.size() > kUlcCountersMax) {
    return events.Error(absl::StrCat("a unit has from 1 to ", kUlcCountersMax, " events"));
  }
  for (const std::string& event : unit.events) SIDEBAND_RETURN_IF_ERROR(CheckEventName(events, event));
  return unit;
}

absl::Status ReadUnits(const YamlMap& root, const std::string& key, std::vector<UnitFileSpec>& units) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto nodes, root.ListOrEmpty(key));
  for (const YamlNode& node : nodes) {
    SIDEBAND_ASSIGN_OR_RETURN(units.emplace_back(), ReadUnit(node));
  }
  return absl::OkStatus();
}

absl::Status ReadDevice(const YamlMap& root, ChipFile& file) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode node, root.Get("device"));
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"uuid", "serial", "part_number", "clock_hz"}));
  SIDEBAND_ASSIGN_OR_RETURN(file.uuid, ReadUuid(map));
  SIDEBAND_ASSIGN_OR_RETURN(file.serial, map.StringOr("serial", "SB-EMULATED"));
  SIDEBAND_ASSIGN_OR_RETURN(file.part_number, map.StringOr("part_number", "SIDEBAND-EMULATOR"));
  SIDEBAND_ASSIGN_OR_RETURN(file.pipeline.clock_hz, map.UintOr("clock_hz", 1'000'000'000, 1000, 100'000'000'000));
  return absl::OkStatus();
}

// The ranges are those of pipeline_config.h.
absl::Status ReadPipeline(const YamlMap& root, ChipFile& file) {
  const auto node = root.Find("pipeline");
  if (!node) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node->Map({"counter_bits", "period", "lanes", "trigger_period",
                                                          "commit_period", "buffer_depth", "record_cycles",
                                                          "route_cycles", "grant_cycles", "switch_step_cycles"}));
  struct Field {
    const char* key;
    uint32_t* value;
    uint64_t low, high;
  };
  PipelineConfig& pipeline = file.pipeline;
  for (const Field& field :
       {Field{"counter_bits", &file.ulc.counter_bits, 1, kUlcCounterBitsMax},
        Field{"period", &file.ulc.period, 1, kUlcPeriodMax}, Field{"lanes", &file.ulc.lanes, 1, 512},
        Field{"buffer_depth", &pipeline.buffer_depth, 1, kLatencyMax},
        Field{"record_cycles", &pipeline.record_cycles, 1, kLatencyMax},
        Field{"route_cycles", &pipeline.route_cycles, 1, kLatencyMax},
        Field{"grant_cycles", &pipeline.grant_cycles, 1, kLatencyMax},
        Field{"switch_step_cycles", &pipeline.switch_step_cycles, 0, kLatencyMax}}) {
    SIDEBAND_ASSIGN_OR_RETURN(const uint64_t value, map.UintOr(field.key, *field.value, field.low, field.high));
    *field.value = static_cast<uint32_t>(value);
  }
  SIDEBAND_ASSIGN_OR_RETURN(pipeline.trigger_period,
                            map.UintOr("trigger_period", pipeline.trigger_period, 0, kCyclesMax));
  SIDEBAND_ASSIGN_OR_RETURN(pipeline.commit_period, map.UintOr("commit_period", pipeline.commit_period, 0, kCyclesMax));
  return absl::OkStatus();
}

absl::Status ReadPower(const YamlMap& root, ChipFile& file) {
  const auto node = root.Find("power");
  if (!node) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node->Map({"idle_w", "ambient_c", "c_per_watt", "event_pj"}));
  if (const auto idle = map.Find("idle_w")) {
    SIDEBAND_ASSIGN_OR_RETURN(const double watt, idle->Number(0, 10'000));
    file.power.idle_mw = watt * 1000;
  }
  if (const auto ambient = map.Find("ambient_c")) {
    SIDEBAND_ASSIGN_OR_RETURN(file.power.ambient_c, ambient->Number(-50, 100));
  }
  if (const auto resistance = map.Find("c_per_watt")) {
    SIDEBAND_ASSIGN_OR_RETURN(file.power.c_per_watt, resistance->Number(0, 10));
  }
  const auto energies = map.Find("event_pj");
  if (!energies) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const auto entries, energies->Entries());
  for (const auto& [event, value] : entries) {
    SIDEBAND_ASSIGN_OR_RETURN(const double pj, value.Number(0, 1e12));
    file.event_pj.emplace_back(event, pj);
  }
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
  SIDEBAND_ASSIGN_OR_RETURN(file.quantum, root.DurationOr("quantum", absl::Milliseconds(2), kQuantumMin, kTimeMax));
  SIDEBAND_ASSIGN_OR_RETURN(file.gap, root.DurationOr("gap", absl::Microseconds(20), absl::ZeroDuration(), kTimeMax));
  if (const auto node = root.Find("device_workload")) {
    SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node->Map({"seed", "phases"}));
    SIDEBAND_ASSIGN_OR_RETURN(file.device_workload, ReadWorkload(map));
  }
  return absl::OkStatus();
}

// What the emulator must do for every trigger, commit and switch has to fit into real time.
absl::Status CheckPace(const YamlMap& root, const ChipFile& file) {
  constexpr uint64_t kPerSecondMax = 100'000;
  const uint64_t cycles_min = file.pipeline.clock_hz / kPerSecondMax;
  for (const auto& [key, period] : {std::pair("trigger_period", file.pipeline.trigger_period),
                                    std::pair("commit_period", file.pipeline.commit_period)}) {
    if (period == 0 || period >= cycles_min) continue;
    return root.node().Error(absl::StrCat("pipeline: ", key, " is ", period, " cycles, must be 0 or at least ",
                                          cycles_min, " (", kPerSecondMax, " a second at ", file.pipeline.clock_hz,
                                          " Hz)"));
  }
  return absl::OkStatus();
}

// Wires come either from units with workloads or from a waveform.
absl::Status CheckWires(const YamlMap& root, const ChipFile& file) {
  const bool has_units = !file.units.empty() || !file.device_units.empty();
  if (file.waveform && (has_units || file.device_workload)) {
    return root.node().Error("a chip has either units and workloads or a waveform");
  }
  if (!file.waveform && file.units.empty()) return root.node().Error("key 'units' or 'waveform' is missing");
  if (file.device_units.empty() == file.device_workload.has_value()) {
    return root.node().Error("keys 'device_units' and 'device_workload' go together");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ChipFile> LoadChipFile(const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode node, YamlNode::Load(path));
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap root,
                            node.Map({"device", "slices", "pipeline", "units", "device_units", "device_workload",
                                      "waveform", "vms", "quantum", "gap", "power"}));
  ChipFile file{.path = path};
  SIDEBAND_RETURN_IF_ERROR(ReadDevice(root, file));
  SIDEBAND_ASSIGN_OR_RETURN(const uint64_t slices, root.UintOr("slices", 1, 1, mailbox::kSlicesMax));
  file.pipeline.slices = static_cast<uint32_t>(slices);
  SIDEBAND_RETURN_IF_ERROR(ReadPipeline(root, file));
  SIDEBAND_RETURN_IF_ERROR(ReadUnits(root, "units", file.units));
  SIDEBAND_RETURN_IF_ERROR(ReadUnits(root, "device_units", file.device_units));
  SIDEBAND_RETURN_IF_ERROR(ReadWaveform(root, file));
  SIDEBAND_RETURN_IF_ERROR(ReadVms(root, file));
  SIDEBAND_RETURN_IF_ERROR(ReadHypervisor(root, file));
  SIDEBAND_RETURN_IF_ERROR(ReadPower(root, file));
  SIDEBAND_RETURN_IF_ERROR(CheckPace(root, file));
  SIDEBAND_RETURN_IF_ERROR(CheckWires(root, file));
  return file;
}

}  // namespace sideband::mcu
