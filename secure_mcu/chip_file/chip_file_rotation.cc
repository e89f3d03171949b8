// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip_file/chip_file_rotation.h"

#include <algorithm>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"

namespace sideband::mcu {
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

}  // namespace sideband::mcu
