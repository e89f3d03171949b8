// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/signal_map.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "proto/base/yaml.h"

namespace sideband::sim {
namespace {

// Event names go into records, metrics and tables; signals are named by their whole path.
constexpr size_t kEventNameSizeMax = 255;
constexpr size_t kSignalNameSizeMax = size_t{1} << 16;

const std::array<std::string, 6>& OpNames() {
  // In the order of EventOp.
  static const auto& names = *new std::array<std::string, 6>{"high", "low", "rise", "equals", "popcount", "value"};
  return names;
}

absl::StatusOr<std::string> Name(const YamlNode& node, size_t size_max) {
  SIDEBAND_ASSIGN_OR_RETURN(std::string name, node.String());
  if (name.size() > size_max) return node.Error(absl::StrCat("a name of more than ", size_max, " bytes"));
  const auto is_control = [](unsigned char c) { return absl::ascii_iscntrl(c); };
  if (std::any_of(name.begin(), name.end(), is_control)) return node.Error("a name with a control character");
  return name;
}

absl::StatusOr<std::string> NameOf(const YamlMap& map, const std::string& key, size_t size_max) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode node, map.Get(key));
  return Name(node, size_max);
}

absl::StatusOr<EventOp> Op(const YamlMap& map) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode node, map.Get("op"));
  SIDEBAND_ASSIGN_OR_RETURN(const std::string name, node.String());
  const auto& names = OpNames();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return node.Error(absl::StrCat("unknown op '", name, "'", DidYouMean(name, names)));
  return static_cast<EventOp>(found - names.begin());
}

absl::Status ReadValue(const YamlMap& map, EventSpec& event) {
  const auto value = map.Find("value");
  const bool needed = event.op == EventOp::kEquals;
  if (!needed && !value) return absl::OkStatus();
  if (!needed) return value->Error("only op equals takes a value");
  if (!value) return map.node().Error("op equals needs a value");
  SIDEBAND_ASSIGN_OR_RETURN(event.value, value->Uint(0, std::numeric_limits<uint64_t>::max()));
  return absl::OkStatus();
}

absl::StatusOr<EventSpec> ReadEvent(const YamlNode& node) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"name", "signal", "op", "bit", "value", "ulc"}));
  EventSpec event{.name = {}, .signal = {}, .bit = {}, .ulc = {}, .line = node.line()};
  SIDEBAND_ASSIGN_OR_RETURN(event.name, NameOf(map, "name", kEventNameSizeMax));
  SIDEBAND_ASSIGN_OR_RETURN(event.signal, NameOf(map, "signal", kSignalNameSizeMax));
  SIDEBAND_ASSIGN_OR_RETURN(event.op, Op(map));
  if (const auto bit = map.Find("bit")) {
    SIDEBAND_ASSIGN_OR_RETURN(event.bit, bit->Uint(0, std::numeric_limits<uint32_t>::max()));
  }
  SIDEBAND_RETURN_IF_ERROR(ReadValue(map, event));
  if (const auto ulc = map.Find("ulc")) {
    SIDEBAND_ASSIGN_OR_RETURN(event.ulc, Name(*ulc, kEventNameSizeMax));
  }
  return event;
}

}  // namespace

absl::StatusOr<SignalMap> SignalMap::Load(const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return Parse(text, path);
}

absl::StatusOr<SignalMap> SignalMap::Parse(const std::string& text, const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode root, YamlNode::Parse(text, path));
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, root.Map({"clock", "events"}));
  SignalMap result;
  result.path_ = path;
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode clock, map.Get("clock"));
  SIDEBAND_ASSIGN_OR_RETURN(result.clock_, Name(clock, kSignalNameSizeMax));
  result.clock_line_ = clock.line();
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode list, map.Get("events"));
  SIDEBAND_ASSIGN_OR_RETURN(const std::vector<YamlNode> events, list.List());
  if (events.empty()) return list.Error("there is no event");
  for (const YamlNode& event : events) {
    SIDEBAND_ASSIGN_OR_RETURN(result.events_.emplace_back(), ReadEvent(event));
  }
  return result;
}

absl::Status SignalMap::Error(size_t line, absl::string_view what) const { return LineError(path_, line, what); }

}  // namespace sideband::sim
