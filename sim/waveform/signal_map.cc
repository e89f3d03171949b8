// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/signal_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/base/errors.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "proto/base/yaml.h"
#include "sim/waveform/vcd_lexer.h"

namespace sideband::sim {
namespace {

// Event names appear in records, metrics and tables; signal names are whole paths.
constexpr size_t kEventNameSizeMax = 255;
constexpr size_t kSignalNameSizeMax = size_t{1} << 16;

// In the order of EventOp.
constexpr std::array<const char*, 6> kOps = {"high", "low", "rise", "equals", "popcount", "value"};
constexpr std::array<const char*, 2> kScopes = {"context", "device"};
constexpr std::array<const char*, 2> kCounts = {"full", "prescaled"};
constexpr std::array<const char*, 2> kModes = {"guest", "host"};

// VCD begins with a $section, FST with a NUL byte.
bool IsWaveform(absl::string_view text) {
  return absl::StartsWith(absl::StripLeadingAsciiWhitespace(text), "$") ||
         absl::StartsWith(text, absl::string_view("\0", 1));
}

absl::StatusOr<std::string> Name(const YamlNode& node, size_t size_max) {
  SIDEBAND_ASSIGN_OR_RETURN(std::string name, node.String());
  if (name.size() > size_max) return node.Error(absl::StrCat("a name of more than ", size_max, " bytes"));
  const auto is_control = [](unsigned char c) { return absl::ascii_iscntrl(c); };
  if (std::any_of(name.begin(), name.end(), is_control)) return node.Error("a name with a control character");
  return name;
}

// A number with this value may also be written as a program writes floating-point numbers: 3e0, 3.0.
absl::StatusOr<double> FloatingPoint(const YamlNode& node) {
  constexpr double kExact = double{uint64_t{1} << 53};
  SIDEBAND_ASSIGN_OR_RETURN(const double number, node.Number(-kExact, kExact));
  if (number != std::trunc(number)) return node.Error("expected a whole number");
  return number;
}

absl::StatusOr<uint64_t> Whole(const YamlNode& node, uint64_t high) {
  const absl::StatusOr<uint64_t> whole = node.Uint(0, high);
  if (whole.ok()) return whole;
  const absl::StatusOr<double> number = FloatingPoint(node);
  if (number.ok() && *number >= 0 && *number <= static_cast<double>(high)) return static_cast<uint64_t>(*number);
  return whole;
}

// The index of a bit, which may be below 0.
absl::StatusOr<int64_t> BitIndex(const YamlNode& node) {
  constexpr int64_t kHigh = std::numeric_limits<uint32_t>::max();
  const absl::StatusOr<uint64_t> whole = node.Uint(0, kHigh);
  if (whole.ok()) return static_cast<int64_t>(*whole);
  const absl::StatusOr<double> number = FloatingPoint(node);
  if (number.ok() && *number >= -kHigh && *number <= kHigh) return static_cast<int64_t>(*number);
  return node.Error(absl::StrCat("expected a whole number from ", -kHigh, " to ", kHigh));
}

absl::StatusOr<std::string> NameOf(const YamlMap& map, const std::string& key, size_t size_max) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode node, map.Get(key));
  return Name(node, size_max);
}

// The index in `words` of the node's text; `key` names it in the error.
absl::StatusOr<size_t> OneOf(const YamlNode& node, absl::string_view key, std::span<const char* const> words) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string word, node.String());
  const std::vector<std::string> known(words.begin(), words.end());
  const auto found = std::find(known.begin(), known.end(), word);
  if (found != known.end()) return static_cast<size_t>(found - known.begin());
  const std::string nearest = DidYouMean(word, known);
  return node.Error(absl::StrCat("unknown ", key, " ", Excerpt(word), nearest.empty() ? MustBeOneOf(known) : nearest));
}

absl::StatusOr<EventOp> Op(const YamlMap& map) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode node, map.Get("op"));
  SIDEBAND_ASSIGN_OR_RETURN(const size_t op, OneOf(node, "op", kOps));
  return static_cast<EventOp>(op);
}

absl::Status ReadValue(const YamlMap& map, EventSpec& event) {
  const auto value = map.Find("value");
  const bool needed = event.op == EventOp::kEquals;
  if (!needed && !value) return absl::OkStatus();
  if (!needed) return value->Error("only op equals takes a value");
  if (!value) return map.node().Error("op equals needs a value");
  SIDEBAND_ASSIGN_OR_RETURN(event.value, Whole(*value, std::numeric_limits<uint64_t>::max()));
  return absl::OkStatus();
}

// The unit-level counter, slice and scope of the event.
absl::Status ReadPlace(const YamlMap& map, EventSpec& event) {
  if (const auto ulc = map.Find("ulc")) {
    SIDEBAND_ASSIGN_OR_RETURN(event.ulc, Name(*ulc, kEventNameSizeMax));
  }
  if (const auto slice = map.Find("slice")) {
    SIDEBAND_ASSIGN_OR_RETURN(event.slice, Whole(*slice, kSliceMax));
  }
  const auto scope = map.Find("scope");
  if (!scope) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const size_t word, OneOf(*scope, "scope", kScopes));
  event.device_scope = word == 1;
  if (event.device_scope && event.slice) return scope->Error("an event of the whole device has no slice");
  return absl::OkStatus();
}

absl::Status ReadMode(const YamlMap& map, EventSpec& event) {
  const auto mode = map.Find("mode");
  if (!mode) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const size_t word, OneOf(*mode, "mode", kModes));
  event.in_host = word == 1;
  return event.device_scope ? mode->Error("an event of the whole device has no mode") : absl::OkStatus();
}

absl::Status ReadRequester(const YamlMap& map, EventSpec& event) {
  const auto node = map.Find("requester");
  if (!node) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap tag, node->Map({"slice", "context"}));
  RequesterSignals requester;
  SIDEBAND_ASSIGN_OR_RETURN(requester.slice, NameOf(tag, "slice", kSignalNameSizeMax));
  if (tag.Find("context")) {
    SIDEBAND_ASSIGN_OR_RETURN(requester.context, NameOf(tag, "context", kSignalNameSizeMax));
  }
  if (event.slice) return node->Error("an event with a requester has no slice: each request names its own");
  if (event.device_scope) return node->Error("an event of the whole device has no requester");
  // Requests of two contexts in a row would rise once.
  if (event.op == EventOp::kRise)
    return node->Error("op rise takes no requester: a request is counted in each of its cycles");
  event.requester = std::move(requester);
  return absl::OkStatus();
}

// The clock of the event, and whether it is prescaled.
absl::Status ReadCounting(const YamlMap& map, EventSpec& event) {
  if (const auto clock = map.Find("clock")) {
    SIDEBAND_ASSIGN_OR_RETURN(event.clock, Name(*clock, kSignalNameSizeMax));
  }
  const auto count = map.Find("count");
  if (!count) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const size_t word, OneOf(*count, "count", kCounts));
  event.prescaled = word == 1;
  const bool has_number = (event.op == EventOp::kPopcount || event.op == EventOp::kValue) && !event.bit;
  if (event.prescaled && !has_number) {
    return count->Error("only ops popcount and value without a bit can be prescaled");
  }
  return absl::OkStatus();
}

absl::StatusOr<EventSpec> ReadEvent(const YamlNode& node) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"name", "signal", "op", "bit", "value", "ulc", "clock",
                                                         "slice", "scope", "count", "mode", "requester"}));
  EventSpec event;
  event.line = node.line();
  SIDEBAND_ASSIGN_OR_RETURN(event.name, NameOf(map, "name", kEventNameSizeMax));
  SIDEBAND_ASSIGN_OR_RETURN(event.signal, NameOf(map, "signal", kSignalNameSizeMax));
  SIDEBAND_ASSIGN_OR_RETURN(event.op, Op(map));
  if (const auto bit = map.Find("bit")) {
    SIDEBAND_ASSIGN_OR_RETURN(event.bit, BitIndex(*bit));
  }
  SIDEBAND_RETURN_IF_ERROR(ReadValue(map, event));
  SIDEBAND_RETURN_IF_ERROR(ReadPlace(map, event));
  SIDEBAND_RETURN_IF_ERROR(ReadMode(map, event));
  SIDEBAND_RETURN_IF_ERROR(ReadRequester(map, event));
  SIDEBAND_RETURN_IF_ERROR(ReadCounting(map, event));
  return event;
}

}  // namespace

absl::StatusOr<SignalMap> SignalMap::Load(const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return Parse(text, path);
}

absl::StatusOr<SignalMap> SignalMap::Parse(const std::string& text, const std::string& path) {
  if (IsWaveform(text)) return LineError(path, 1, "this is a waveform, not a signal map");
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode root, YamlNode::Parse(text, path));
  // The rows of a schedule are one text in YAML.
  if (root.String().ok()) return LineError(path, 1, "this is not a signal map, which has the keys clock and events");
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
