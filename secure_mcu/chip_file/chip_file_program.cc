// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip_file/chip_file_program.h"

#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "proto/base/status_macros.h"
#include "secure_mcu/chip_file/chip_file_fields.h"
#include "sim/riscv/event.h"

namespace sideband::mcu {
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

}  // namespace sideband::mcu
