// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip_file/chip_file_sections.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "proto/base/errors.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "proto/mailbox/catalog.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/firmware/complement.h"
#include "sim/riscv/shape.h"

namespace sideband::mcu {
namespace {

constexpr size_t kNameMax = 64;

// Returns "slices is 65," for a scalar of at most 40 characters, and `what` alone otherwise.
std::string Shown(const YamlNode& node, absl::string_view what) {
  constexpr size_t kShownMax = 40;
  const auto text = node.String();
  return text.ok() && text->size() <= kShownMax ? absl::StrCat(what, " is ", *text, ",") : std::string(what);
}

absl::Status Wrong(const YamlNode& node, absl::string_view what, absl::string_view expected) {
  return node.Error(absl::StrCat(Shown(node, what), " must be ", expected));
}

bool IsNameCharacter(unsigned char c) { return absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '.'; }

}  // namespace

absl::StatusOr<uint64_t> UintValue(const YamlNode& node, absl::string_view what, FieldRange<uint64_t> range) {
  const auto value = node.Uint(range.low, range.high);
  if (value.ok()) return *value;
  return Wrong(node, what, absl::StrCat("a whole number from ", range.low, " to ", range.high));
}

absl::StatusOr<absl::Duration> DurationValue(const YamlNode& node, absl::string_view what,
                                             FieldRange<absl::Duration> range) {
  const auto value = node.Duration(range.low, range.high);
  if (value.ok()) return *value;
  return Wrong(node, what,
               absl::StrCat("a duration from ", absl::FormatDuration(range.low), " to ",
                            absl::FormatDuration(range.high), ", such as 250ms or 1s"));
}

absl::StatusOr<uint64_t> UintField(const YamlMap& map, const std::string& key, uint64_t otherwise,
                                   FieldRange<uint64_t> range) {
  const auto node = map.Find(key);
  return node ? UintValue(*node, key, range) : otherwise;
}

absl::Status Uint32Field(const YamlMap& map, const std::string& key, FieldRange<uint64_t> range, uint32_t& value) {
  SIDEBAND_ASSIGN_OR_RETURN(const uint64_t read, UintField(map, key, value, range));
  value = static_cast<uint32_t>(read);
  return absl::OkStatus();
}

absl::StatusOr<double> NumberField(const YamlMap& map, const std::string& key, double otherwise,
                                   FieldRange<double> range) {
  const auto node = map.Find(key);
  if (!node) return otherwise;
  const auto value = node->Number(range.low, range.high);
  if (value.ok()) return *value;
  return Wrong(*node, key, absl::StrCat("a number from ", range.low, " to ", range.high));
}

absl::StatusOr<absl::Duration> DurationField(const YamlMap& map, const std::string& key, absl::Duration otherwise,
                                             FieldRange<absl::Duration> range) {
  const auto node = map.Find(key);
  return node ? DurationValue(*node, key, range) : otherwise;
}

absl::StatusOr<bool> BoolField(const YamlMap& map, const std::string& key, bool otherwise) {
  const auto node = map.Find(key);
  if (!node) return otherwise;
  const auto value = node->Bool();
  if (value.ok()) return *value;
  return Wrong(*node, key, "true or false");
}

absl::StatusOr<Uuid> ReadUuid(const YamlMap& map) {
  if (!map.Find("uuid")) return map.node().Error("key 'uuid' is missing: uuidgen makes one");
  const YamlNode node = *map.Find("uuid");
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, node.String());
  const auto uuid = Uuid::Parse(text);
  if (!uuid.ok()) return node.Locate(uuid.status());
  return *uuid;
}

absl::StatusOr<std::string> ReadName(const YamlMap& map, const std::string& key) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode node, map.Get(key));
  SIDEBAND_ASSIGN_OR_RETURN(std::string name, node.String());
  // YamlNode::String has rejected an empty name.
  if (name.size() > kNameMax) return node.Error(absl::StrCat("a name has at most ", kNameMax, " characters"));
  if (!std::all_of(name.begin(), name.end(), IsNameCharacter)) {
    return node.Error(absl::StrCat(key, " '", name, "' has characters other than letters, digits, '_', '-' and '.'"));
  }
  return name;
}

absl::StatusOr<std::string> PrintableField(const YamlMap& map, const std::string& key, const std::string& otherwise,
                                           size_t size_max) {
  const auto node = map.Find(key);
  if (!node) return otherwise;
  SIDEBAND_ASSIGN_OR_RETURN(std::string text, node->String());
  // YamlNode::String has rejected an empty value.
  if (text.size() <= size_max && std::all_of(text.begin(), text.end(), absl::ascii_isprint)) return text;
  return node->Error(absl::StrCat(key, " must be from 1 to ", size_max, " printable ASCII characters"));
}

namespace {

absl::StatusOr<Complement> ReadRule(const YamlNode& node, absl::string_view name) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, node.String());
  std::vector<std::string> words;
  for (const auto& [word, rule] : kComplementWords) {
    if (text == word) return rule;
    words.emplace_back(word);
  }
  return node.Error(absl::StrCat("complement of ", name, ": '", text, "' is unknown", MustBeOneOf(words)));
}

absl::Status UnknownClass(const YamlNode& node, absl::string_view name) {
  std::vector<std::string> names;
  for (const ComplementClass& of : kComplementClasses) names.emplace_back(of.name);
  return node.Error(absl::StrCat("complement: unknown class '", name, "'", MustBeOneOf(names)));
}

constexpr uint64_t kCyclesMax = 1'000'000'000'000;
constexpr uint64_t kLatencyMax = 65'536;
constexpr uint64_t kClockMin = 1000;
constexpr uint64_t kClockMax = 100'000'000'000;

absl::Status ReadLatencies(const YamlMap& map, PipelineConfig& pipeline) {
  SIDEBAND_RETURN_IF_ERROR(Uint32Field(map, "buffer_depth", {1, kLatencyMax}, pipeline.buffer_depth));
  SIDEBAND_RETURN_IF_ERROR(Uint32Field(map, "record_cycles", {1, kLatencyMax}, pipeline.record_cycles));
  SIDEBAND_RETURN_IF_ERROR(Uint32Field(map, "route_cycles", {1, kLatencyMax}, pipeline.route_cycles));
  SIDEBAND_RETURN_IF_ERROR(Uint32Field(map, "grant_cycles", {1, kLatencyMax}, pipeline.grant_cycles));
  SIDEBAND_RETURN_IF_ERROR(Uint32Field(map, "hop_cycles", {1, kHpcLatencyMax}, pipeline.hpc.hop_cycles));
  SIDEBAND_RETURN_IF_ERROR(Uint32Field(map, "lookup_cycles", {1, kHpcLatencyMax}, pipeline.hpc.lookup_cycles));
  return Uint32Field(map, "switch_step_cycles", {0, kLatencyMax}, pipeline.switch_step_cycles);
}

absl::Status ReadPeriod(const YamlMap& map, const std::string& key, uint64_t& period) {
  SIDEBAND_ASSIGN_OR_RETURN(period, UintField(map, key, period, {0, kCyclesMax}));
  return absl::OkStatus();
}

absl::Status ReadPeriods(const YamlMap& map, PipelineConfig& pipeline) {
  SIDEBAND_RETURN_IF_ERROR(ReadPeriod(map, "trigger_period", pipeline.trigger_period));
  SIDEBAND_RETURN_IF_ERROR(ReadPeriod(map, "commit_period", pipeline.commit_period));
  pipeline.hypervisor_commit_period = pipeline.commit_period;
  SIDEBAND_RETURN_IF_ERROR(ReadPeriod(map, "hypervisor_commit_period", pipeline.hypervisor_commit_period));
  return ReadPeriod(map, "out_of_band_commit_period", pipeline.out_of_band_commit_period);
}

// The emulator must process every trigger and commit in real time. `place` is the node of the key, or the clock's node
// if the key is absent: then the clock makes the default period too short.
absl::Status CheckPace(const YamlNode& place, absl::string_view key, uint64_t period, uint64_t clock_hz) {
  const uint64_t cycles_min = CyclesBetweenMin(clock_hz);
  if (period == 0 || period >= cycles_min) return absl::OkStatus();
  return place.Error(absl::StrCat(key, " is ", period, ", must be 0 or from ", cycles_min, " to ", kCyclesMax,
                                  " cycles (", kPerSecondMax, " a second at ", clock_hz, " Hz)"));
}

absl::Status CheckPaces(const YamlMap& map, const YamlNode& clock, const PipelineConfig& pipeline) {
  for (const auto& [key, period] :
       {std::pair("trigger_period", pipeline.trigger_period), std::pair("commit_period", pipeline.commit_period),
        std::pair("hypervisor_commit_period", pipeline.hypervisor_commit_period),
        std::pair("out_of_band_commit_period", pipeline.out_of_band_commit_period)}) {
    SIDEBAND_RETURN_IF_ERROR(CheckPace(map.Find(key).value_or(clock), key, period, pipeline.clock_hz));
  }
  return absl::OkStatus();
}

// The mapping under `pipeline`, or an empty mapping if the key is absent.
absl::StatusOr<YamlMap> PipelineMap(const YamlMap& root, ChipFile& file) {
  const auto node = root.Find("pipeline");
  if (node) file.pipeline_line = node->line();
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode empty, YamlNode::Parse("{}", file.path));
  return node.value_or(empty).Map({"counter_bits", "period", "lanes", "threshold", "trigger_period", "commit_period",
                                   "hypervisor_commit_period", "out_of_band_commit_period", "buffer_depth",
                                   "record_cycles", "route_cycles", "grant_cycles", "hop_cycles", "lookup_cycles",
                                   "switch_step_cycles"});
}

}  // namespace

absl::Status ReadComplement(const YamlMap& root, ChipFile& file) {
  const auto node = root.Find("complement");
  if (!node) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const auto entries, node->Entries());
  for (const auto& [name, value] : entries) {
    const auto* const found = std::ranges::find(kComplementClasses, name, &ComplementClass::name);
    if (found == kComplementClasses.end()) return UnknownClass(value, name);
    SIDEBAND_ASSIGN_OR_RETURN(file.complement.*found->rule, ReadRule(value, name));
  }
  return absl::OkStatus();
}

absl::Status ReadPipeline(const YamlMap& root, const YamlMap& device, ChipFile& file) {
  PipelineConfig& pipeline = file.pipeline;
  SIDEBAND_ASSIGN_OR_RETURN(pipeline.clock_hz,
                            UintField(device, "clock_hz", pipeline.clock_hz, {kClockMin, kClockMax}));
  SIDEBAND_RETURN_IF_ERROR(Uint32Field(root, "slices", {1, mailbox::kSlicesMax}, pipeline.slices));
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, PipelineMap(root, file));
  SIDEBAND_RETURN_IF_ERROR(ReadUlcShape(map, file.ulc));
  SIDEBAND_RETURN_IF_ERROR(Uint32Field(map, "threshold", {0, kCcuCounterMax}, file.threshold));
  SIDEBAND_RETURN_IF_ERROR(ReadLatencies(map, pipeline));
  SIDEBAND_RETURN_IF_ERROR(ReadPeriods(map, pipeline));
  return CheckPaces(map, device.Find("clock_hz").value_or(device.node()), pipeline);
}

namespace {

absl::Status ReadLevel(const YamlMap& map, ProgramFileSpec& program) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string level, map.StringOr("level", "user"));
  program.is_user = level == "user";
  if (program.is_user || level == "machine") return absl::OkStatus();
  return map.Find("level")->Error(absl::StrCat("level is ", level, ", must be user or machine"));
}

// Validate knows which sizes fit together.
absl::Status ReadCache(const YamlMap& map, const std::string& key, riscv::CacheShape& cache) {
  const auto node = map.Find(key);
  if (!node) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap fields, node->Map({"bytes", "ways"}));
  SIDEBAND_RETURN_IF_ERROR(Uint32Field(fields, "bytes", {0, UINT32_MAX}, cache.bytes));
  return Uint32Field(fields, "ways", {0, UINT32_MAX}, cache.ways);
}

// An error of the shape begins with the name of the value, which is that of its key.
absl::Status CheckShape(const YamlMap& map, const riscv::MachineShape& shape) {
  const absl::Status status = Validate(shape);
  if (status.ok()) return status;
  const std::string key(status.message().substr(0, status.message().find_first_of(". ")));
  return map.Find(key).value_or(map.node()).Locate(status);
}

absl::Status ReadShape(const YamlMap& map, riscv::MachineShape& shape) {
  SIDEBAND_RETURN_IF_ERROR(Uint32Field(map, "cores", {1, riscv::MachineShape::kCoresMax}, shape.cores));
  SIDEBAND_RETURN_IF_ERROR(Uint32Field(map, "l2_slices", {1, riscv::MachineShape::kSlicesMax}, shape.l2_slices));
  SIDEBAND_RETURN_IF_ERROR(ReadCache(map, "l1i", shape.l1i));
  SIDEBAND_RETURN_IF_ERROR(ReadCache(map, "l1d", shape.l1d));
  SIDEBAND_RETURN_IF_ERROR(ReadCache(map, "l2", shape.l2));
  return CheckShape(map, shape);
}

absl::StatusOr<ProgramFileSpec> ReadProgram(const YamlNode& node, const std::string& chip_path) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map,
                            node.Map({"hex", "level", "argument", "cores", "l1i", "l1d", "l2", "l2_slices"}));
  ProgramFileSpec program{.line = node.line()};
  SIDEBAND_ASSIGN_OR_RETURN(const std::string hex, map.String("hex"));
  program.hex = (std::filesystem::path(chip_path).parent_path() / hex).string();
  SIDEBAND_RETURN_IF_ERROR(ReadLevel(map, program));
  SIDEBAND_ASSIGN_OR_RETURN(program.argument, UintField(map, "argument", 0, {0, UINT64_MAX}));
  SIDEBAND_RETURN_IF_ERROR(ReadShape(map, program.shape));
  return program;
}

absl::StatusOr<std::vector<YamlNode>> NodesPerSlice(const YamlNode& node, uint32_t slices) {
  if (!node.is_list()) return std::vector<YamlNode>(slices, node);
  SIDEBAND_ASSIGN_OR_RETURN(std::vector<YamlNode> nodes, node.List());
  if (nodes.size() == slices) return nodes;
  return node.Error(absl::StrCat("program lists ", nodes.size(), " programs, must be one, or one for each of ", slices,
                                 slices == 1 ? " slice" : " slices"));
}

// `count` wires from `first` on, which one part of the machine drives.
UnitFileSpec UnitOf(const std::string& name, const riscv::EventWires& wires, sim::WireId first, uint32_t count,
                    const ProgramFileSpec& program) {
  UnitFileSpec unit{.name = name, .line = program.line};
  for (sim::WireId wire = first; wire < first + count; ++wire) {
    unit.events.push_back({.name = absl::StrReplaceAll(wires.Name(wire), {{".", "_"}}), .line = program.line});
  }
  return unit;
}

std::vector<UnitFileSpec> UnitsOf(const ProgramFileSpec& program) {
  const riscv::EventWires wires(program.shape);
  std::vector<UnitFileSpec> units;
  for (uint32_t core = 0; core < program.shape.cores; ++core) {
    units.push_back(UnitOf(absl::StrCat("core", core), wires, wires.core(core), riscv::kCoreEvents, program));
  }
  for (uint32_t slice = 0; slice < program.shape.l2_slices; ++slice) {
    units.push_back(UnitOf(absl::StrCat("l2slice", slice), wires, wires.slice(slice), riscv::kSliceEvents, program));
  }
  return units;
}

}  // namespace

absl::Status ReadPrograms(const YamlMap& root, ChipFile& file) {
  const auto node = root.Find("program");
  if (!node) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const auto nodes, NodesPerSlice(*node, file.pipeline.slices));
  for (size_t slice = 0; slice < nodes.size(); ++slice) {
    SIDEBAND_ASSIGN_OR_RETURN(ProgramFileSpec program, ReadProgram(nodes[slice], file.path));
    for (UnitFileSpec& unit : UnitsOf(program)) {
      unit.ulc = file.ulc;
      unit.slices = {static_cast<uint8_t>(slice)};
      file.units.push_back(std::move(unit));
    }
    file.programs.push_back(std::move(program));
  }
  return absl::OkStatus();
}

namespace {

// A chip whose events are known from the file, and that can tell its clients of relations and estimates.
absl::Status CheckChip(const YamlNode& node, const std::string& key, const ChipFile& file) {
  if (file.units.empty()) return node.Error(absl::StrCat("'", key, "' needs units, whose events it is about"));
  if (file.extension == mailbox::ExtensionVersion::kTwo) return absl::OkStatus();
  return node.Error(absl::StrCat("'", key, "' needs extension 2: others cannot tell an estimate from a count"));
}

// The mapping, or {file: PATH}.
absl::StatusOr<RotationFile> ReadRotationValue(const YamlNode& node, const ChipFile& file) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto entries, node.Entries());
  const bool has_file = std::ranges::any_of(entries, [](const auto& entry) { return entry.first == "file"; });
  if (!has_file) return ReadRotation(node, file.path, RotationUse::kChip);
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"file"}));
  SIDEBAND_ASSIGN_OR_RETURN(const std::string path, map.String("file"));
  return LoadRotationFile((std::filesystem::path(file.path).parent_path() / path).string(), RotationUse::kChip);
}

absl::Status CheckFixedUnits(const ChipFile& file) {
  for (const auto* units : {&file.units, &file.shared_units, &file.device_units}) {
    for (const UnitFileSpec& unit : *units) {
      if (unit.fixed.empty()) continue;
      return LineError(
          file.path, unit.fixed[0].line,
          absl::StrCat("unit '", unit.name, "': 'fixed' needs 'rotation', in which other events take turns"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadRotationKeys(const YamlMap& root, ChipFile& file) {
  if (const auto node = root.Find("relations")) {
    SIDEBAND_RETURN_IF_ERROR(CheckChip(*node, "relations", file));
    SIDEBAND_ASSIGN_OR_RETURN(file.relations, ReadRelations(*node));
  }
  const auto node = root.Find("rotation");
  if (!node) return CheckFixedUnits(file);
  SIDEBAND_RETURN_IF_ERROR(CheckChip(*node, "rotation", file));
  if (!file.selections.empty()) {
    return node->Error("a chip has 'selections', of which each VM has one, or a 'rotation', not both");
  }
  file.rotation_line = node->line();
  SIDEBAND_ASSIGN_OR_RETURN(file.rotation, ReadRotationValue(*node, file));
  return absl::OkStatus();
}

absl::Status ReadSealing(const YamlMap& root, ChipFile& file) {
  const auto node = root.Find("sealing");
  if (!node) return absl::OkStatus();
  if (file.extension != mailbox::ExtensionVersion::kTwo) return node->Error("'sealing' needs extension 2");
  if (file.rotation) return node->Error("a device that seals has no 'rotation': its records have no estimates");
  const auto open =
      std::ranges::find_if(file.vms, [](const VmFileSpec& vm) { return vm.confidential && !vm.counting.is_private; });
  if (open != file.vms.end()) {
    return node->Error(absl::StrCat("VM '", open->name,
                                    "' is confidential and not private: the device's own block would "
                                    "have its counts"));
  }
  SIDEBAND_ASSIGN_OR_RETURN(const std::string path, node->String());
  file.sealing = {.path = (std::filesystem::path(file.path).parent_path() / path).string(), .line = node->line()};
  return absl::OkStatus();
}

namespace {

absl::Status ReadSelectedEvent(const YamlNode& node, const std::vector<std::string>& known,
                               SelectionFileSpec& selection) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string event, node.String());
  if (std::ranges::find(known, event) == known.end()) {
    return node.Error(absl::StrCat("no unit of a slice has an event '", event, "'", DidYouMean(event, known)));
  }
  if (std::ranges::find(selection.events, event) != selection.events.end()) {
    return node.Error(absl::StrCat("event '", event, "' is listed twice"));
  }
  selection.events.push_back(event);
  return absl::OkStatus();
}

absl::Status ReadSelection(const YamlNode& node, const std::vector<std::string>& known, ChipFile& file) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"name", "events"}));
  SelectionFileSpec selection{.name = {}, .events = {}, .line = node.line()};
  SIDEBAND_ASSIGN_OR_RETURN(selection.name, ReadName(map));
  const auto& names = file.selections;
  if (std::ranges::find(names, selection.name, &SelectionFileSpec::name) != names.end()) {
    return node.Error(absl::StrCat("selection '", selection.name, "' is listed twice"));
  }
  if (names.size() == mailbox::kSelectionsMax) {
    return node.Error(absl::StrCat("more than ", mailbox::kSelectionsMax, " selections"));
  }
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode list, map.Get("events"));
  SIDEBAND_ASSIGN_OR_RETURN(const auto events, list.List());
  for (const YamlNode& event : events) SIDEBAND_RETURN_IF_ERROR(ReadSelectedEvent(event, known, selection));
  file.selections.push_back(std::move(selection));
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadSelections(const YamlMap& root, ChipFile& file) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto nodes, root.ListOrEmpty("selections"));
  if (nodes.empty()) return absl::OkStatus();
  if (file.units.empty()) return nodes[0].Error("selections need units, among whose events they choose");
  if (file.extension != mailbox::ExtensionVersion::kTwo) {
    return nodes[0].Error("selections need extension 2: in others nothing tells a count of 0 from none");
  }
  const std::vector<std::string> known = EventsOfSlices(file);
  for (const YamlNode& node : nodes) SIDEBAND_RETURN_IF_ERROR(ReadSelection(node, known, file));
  return absl::OkStatus();
}

}  // namespace sideband::mcu
