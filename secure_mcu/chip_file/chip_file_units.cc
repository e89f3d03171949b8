// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "proto/base/errors.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "secure_mcu/chip_file/chip_file_sections.h"

namespace sideband::mcu {
namespace {

constexpr uint64_t kUnitCountMax = 4096;
constexpr uint64_t kEventBitsMax = 32;
constexpr uint64_t kLanesMax = 512;

bool IsEventCharacter(unsigned char c) { return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '_'; }

absl::Status CheckEventName(const YamlNode& node, const std::string& name) {
  if (!std::all_of(name.begin(), name.end(), IsEventCharacter)) {
    return node.Error(absl::StrCat("event '", name, "' has characters other than a-z, 0-9 and '_'"));
  }
  // A string of the catalogue has a length of one byte.
  if (name.size() > 255) return node.Error("an event's name has at most 255 characters");
  if (!absl::ascii_isdigit(static_cast<unsigned char>(name[0]))) return absl::OkStatus();
  return node.Error(absl::StrCat("event '", name, "' starts with a digit"));
}

absl::StatusOr<bool> ReadPrescaled(const YamlMap& map) {
  const auto node = map.Find("count");
  if (!node) return false;
  SIDEBAND_ASSIGN_OR_RETURN(const std::string way, node->String());
  if (way == "full" || way == "prescaled") return way == "prescaled";
  return node->Error(absl::StrCat("count is ", way, ", must be full or prescaled"));
}

// A name, or {name, bits, count}, or {name, of}.
absl::StatusOr<UnitEventSpec> ReadUnitEvent(const YamlNode& node) {
  UnitEventSpec event{.line = node.line()};
  if (node.is_map()) {
    SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"name", "bits", "count", "of"}));
    SIDEBAND_ASSIGN_OR_RETURN(event.name, map.String("name"));
    SIDEBAND_RETURN_IF_ERROR(Uint32Field(map, "bits", {1, kEventBitsMax}, event.bits));
    SIDEBAND_ASSIGN_OR_RETURN(event.prescaled, ReadPrescaled(map));
    SIDEBAND_ASSIGN_OR_RETURN(event.of, map.StringOr("of", ""));
    if (!event.of.empty() && (map.Find("bits") || map.Find("count"))) {
      return node.Error(absl::StrCat("event '", event.name, "' is counted as '", event.of, "' is: no bits, no count"));
    }
  } else {
    SIDEBAND_ASSIGN_OR_RETURN(event.name, node.String());
  }
  SIDEBAND_RETURN_IF_ERROR(CheckEventName(node, event.name));
  return event;
}

// The event before it whose wires it has gives it its width and way of counting.
absl::Status CopySource(const YamlNode& node, const UnitFileSpec& unit, UnitEventSpec& event) {
  if (event.of.empty()) return absl::OkStatus();
  const auto source = std::ranges::find(unit.events, event.of, &UnitEventSpec::name);
  if (source == unit.events.end() || !source->of.empty()) {
    return node.Error(
        absl::StrCat("event '", event.name, "': no event '", event.of, "' with wires of its own before it"));
  }
  event.bits = source->bits;
  event.prescaled = source->prescaled;
  return absl::OkStatus();
}

absl::Status ReadEvents(const YamlMap& map, UnitFileSpec& unit) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode list, map.Get("events"));
  SIDEBAND_ASSIGN_OR_RETURN(const auto nodes, list.List());
  if (nodes.empty()) return list.Error(absl::StrCat("unit '", unit.name, "' has no event"));
  std::set<std::string> names;
  for (const YamlNode& node : nodes) {
    SIDEBAND_ASSIGN_OR_RETURN(UnitEventSpec event, ReadUnitEvent(node));
    SIDEBAND_RETURN_IF_ERROR(CopySource(node, unit, event));
    if (!names.insert(event.name).second) {
      return node.Error(absl::StrCat("event '", event.name, "' is listed twice in unit '", unit.name, "'"));
    }
    unit.events.push_back(std::move(event));
  }
  return absl::OkStatus();
}

absl::Status Mask(const YamlNode& node, const std::string& name, UnitFileSpec& unit) {
  std::vector<std::string> names;
  for (UnitEventSpec& event : unit.events) {
    if (event.name == name && event.masked) return node.Error(absl::StrCat("event '", name, "' is masked twice"));
    if (event.name == name) {
      event.masked = true;
      return absl::OkStatus();
    }
    names.push_back(event.name);
  }
  return node.Error(absl::StrCat("unit '", unit.name, "' has no event '", name, "' to mask", DidYouMean(name, names)));
}

absl::Status ReadMasked(const YamlMap& map, UnitFileSpec& unit) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto nodes, map.ListOrEmpty("masked"));
  for (const YamlNode& node : nodes) {
    SIDEBAND_ASSIGN_OR_RETURN(const std::string name, node.String());
    SIDEBAND_RETURN_IF_ERROR(Mask(node, name, unit));
  }
  return absl::OkStatus();
}

absl::Status ReadFixed(const YamlMap& map, UnitFileSpec& unit) {
  const auto list = map.Find("fixed");
  if (!list) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(unit.fixed, ReadEventNames(*list));
  std::vector<std::string> names;
  for (const UnitEventSpec& event : unit.events) names.push_back(event.name);
  SIDEBAND_ASSIGN_OR_RETURN(const auto nodes, list->List());
  for (size_t i = 0; i < nodes.size(); ++i) {
    const std::string& name = unit.fixed[i].name;
    if (std::ranges::find(names, name) != names.end()) continue;
    return nodes[i].Error(
        absl::StrCat("unit '", unit.name, "' has no event '", name, "' to fix", DidYouMean(name, names)));
  }
  return absl::OkStatus();
}

absl::Status ReadSlices(const YamlMap& map, uint32_t slices, UnitFileSpec& unit) {
  const auto list = map.Find("slices");
  if (!list) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const auto nodes, list->List());
  if (nodes.empty()) return list->Error(absl::StrCat("unit '", unit.name, "' is on no slice"));
  for (const YamlNode& node : nodes) {
    SIDEBAND_ASSIGN_OR_RETURN(const uint64_t slice, UintValue(node, "slice", {0, slices - 1}));
    if (std::find(unit.slices.begin(), unit.slices.end(), slice) != unit.slices.end()) {
      return node.Error(absl::StrCat("slice ", slice, " is listed twice"));
    }
    unit.slices.push_back(static_cast<uint8_t>(slice));
  }
  return absl::OkStatus();
}

// Unnamed collection units are named "ccu0", "ccu1" and so on (unit_plan.cc).
bool IsPackedName(absl::string_view name) {
  return absl::ConsumePrefix(&name, "ccu") && !name.empty() &&
         std::all_of(name.begin(), name.end(), absl::ascii_isdigit);
}

absl::StatusOr<std::string> ReadCcuName(const YamlMap& map, const std::string& key) {
  SIDEBAND_ASSIGN_OR_RETURN(std::string name, ReadName(map, key));
  if (!IsPackedName(name)) return name;
  return map.Get(key)->Error(absl::StrCat("'", name, "' is reserved for units that name no collection unit"));
}

absl::StatusOr<UnitFileSpec> ReadUnit(const YamlNode& node, const YamlMap& map, const ChipFile& file) {
  UnitFileSpec unit{.ulc = file.ulc, .line = node.line()};
  SIDEBAND_ASSIGN_OR_RETURN(unit.name, ReadName(map));
  SIDEBAND_RETURN_IF_ERROR(Uint32Field(map, "count", {1, kUnitCountMax}, unit.count));
  SIDEBAND_RETURN_IF_ERROR(ReadEvents(map, unit));
  SIDEBAND_RETURN_IF_ERROR(ReadMasked(map, unit));
  SIDEBAND_RETURN_IF_ERROR(ReadFixed(map, unit));
  SIDEBAND_RETURN_IF_ERROR(ReadUlcShape(map, unit.ulc));
  SIDEBAND_RETURN_IF_ERROR(Uint32Field(map, "counters", {1, kUlcCountersMax}, unit.ulc.counters));
  SIDEBAND_RETURN_IF_ERROR(ReadSlices(map, file.pipeline.slices, unit));
  if (const auto domain = map.Find("domain")) {
    SIDEBAND_ASSIGN_OR_RETURN(unit.ulc.domain, FindDomain(*domain, file));
  }
  if (!map.Find("ccu")) return unit;
  SIDEBAND_ASSIGN_OR_RETURN(unit.ccu, ReadCcuName(map, "ccu"));
  return unit;
}

// Units of the whole device belong to no slice, so they have no key `slices`.
absl::StatusOr<YamlMap> UnitMap(const YamlNode& node, bool on_slices) {
  if (!on_slices) {
    return node.Map(
        {"name", "count", "events", "counters", "fixed", "masked", "counter_bits", "period", "lanes", "ccu", "domain"});
  }
  return node.Map({"name", "count", "events", "counters", "fixed", "masked", "counter_bits", "period", "lanes", "ccu",
                   "domain", "slices"});
}

absl::Status ReadUnits(const std::vector<YamlNode>& nodes, bool on_slices, const ChipFile& file,
                       std::vector<UnitFileSpec>& units) {
  std::set<std::string> names;
  for (const YamlNode& node : nodes) {
    SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, UnitMap(node, on_slices));
    SIDEBAND_ASSIGN_OR_RETURN(UnitFileSpec unit, ReadUnit(node, map, file));
    if (!names.insert(unit.name).second) return node.Error(absl::StrCat("unit '", unit.name, "' is listed twice"));
    units.push_back(std::move(unit));
  }
  return absl::OkStatus();
}

absl::Status ReadSharedUnits(const YamlMap& root, ChipFile& file) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto nodes, root.ListOrEmpty("shared_units"));
  if (!nodes.empty() && file.units.empty()) {
    return nodes[0].Error("shared units need units of slices, whose requests they serve");
  }
  SIDEBAND_RETURN_IF_ERROR(ReadUnits(nodes, /*on_slices=*/true, file, file.shared_units));
  for (const UnitFileSpec& unit : file.shared_units) {
    const size_t slices = unit.slices.empty() ? file.pipeline.slices : unit.slices.size();
    if (slices > 1) continue;
    return LineError(file.path, unit.line,
                     absl::StrCat("unit '", unit.name, "' is shared by one slice only: list it in 'units'"));
  }
  return absl::OkStatus();
}

absl::Status ReadCcus(const YamlMap& root, ChipFile& file) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto nodes, root.ListOrEmpty("ccus"));
  std::set<std::string> names;
  for (const YamlNode& node : nodes) {
    SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"name", "threshold"}));
    CcuFileSpec ccu{.line = node.line()};
    SIDEBAND_ASSIGN_OR_RETURN(ccu.name, ReadCcuName(map, "name"));
    // An entry without a threshold would have no effect.
    SIDEBAND_RETURN_IF_ERROR(map.Get("threshold").status());
    SIDEBAND_RETURN_IF_ERROR(Uint32Field(map, "threshold", {0, kCcuCounterMax}, ccu.threshold));
    if (!names.insert(ccu.name).second) {
      return node.Error(absl::StrCat("collection unit '", ccu.name, "' is listed twice"));
    }
    file.ccus.push_back(std::move(ccu));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadUlcShape(const YamlMap& map, UlcSpec& ulc) {
  SIDEBAND_RETURN_IF_ERROR(Uint32Field(map, "counter_bits", {1, kUlcCounterBitsMax}, ulc.counter_bits));
  const uint32_t period_max = (1u << ulc.counter_bits) - 1;
  // The inherited period may overflow narrower counters.
  ulc.period = std::min(ulc.period, period_max);
  SIDEBAND_RETURN_IF_ERROR(Uint32Field(map, "period", {1, period_max}, ulc.period));
  return Uint32Field(map, "lanes", {1, kLanesMax}, ulc.lanes);
}

absl::Status ReadAllUnits(const YamlMap& root, ChipFile& file) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto units, root.ListOrEmpty("units"));
  SIDEBAND_RETURN_IF_ERROR(ReadUnits(units, /*on_slices=*/true, file, file.units));
  SIDEBAND_RETURN_IF_ERROR(ReadSharedUnits(root, file));
  SIDEBAND_ASSIGN_OR_RETURN(const auto device_units, root.ListOrEmpty("device_units"));
  SIDEBAND_RETURN_IF_ERROR(ReadUnits(device_units, /*on_slices=*/false, file, file.device_units));
  return ReadCcus(root, file);
}

}  // namespace sideband::mcu
