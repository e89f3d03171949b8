// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/event_binding.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "sim/waveform/probe.h"
#include "sim/waveform/vcd_names.h"

namespace sideband::sim {
namespace {

std::string Suggestion(const std::string& name, const VcdHeader& header) {
  // A name without its scope.
  const auto is_below = [&](const std::string& known) { return absl::EndsWith(known, absl::StrCat(".", name)); };
  const auto below = std::ranges::find_if(header.names, is_below);
  if (below != header.names.end()) return absl::StrCat(" (did you mean '", Visible(*below), "'?)");
  return name.size() > kSuggestionSizeMax ? "" : DidYouMean(name, header.names);
}

// A hint for `bus[2]`, if the trace has a vector `bus`.
std::string BitHint(const std::string& name, const VcdHeader& header) {
  const size_t open = name.rfind('[');
  if (open == std::string::npos || name.back() != ']') return "";
  const std::string index = name.substr(open + 1, name.size() - open - 2);
  int64_t bit = 0;
  if (!absl::SimpleAtoi(index, &bit) || !std::ranges::count(header.names, name.substr(0, open))) return "";
  return absl::StrCat(": a bit of '", name.substr(0, open), "' is selected by \"bit\": ", bit);
}

absl::Status CheckRange(const SignalMap& map, size_t line, const std::string& name, const BitRange& range,
                        const VcdVar& var) {
  if (range == BitRange{var.left, var.right}) return absl::OkStatus();
  return map.Error(line, absl::StrCat("signal '", name, "' is [", var.left, ":", var.right, "], not [", range.left, ":",
                                      range.right, "]: to use a part, name single bits with `bit`"));
}

absl::StatusOr<const VcdVar*> FindSignal(const SignalMap& map, size_t line, const std::string& name,
                                         const VcdHeader& header) {
  const VcdVar* var = header.Find(name);
  const VarName shown = ParseShownName(name);
  if (var == nullptr && shown.range) {
    var = header.Find(shown.name);
    if (var != nullptr) SIDEBAND_RETURN_IF_ERROR(CheckRange(map, line, shown.name, *shown.range, *var));
  }
  if (var == nullptr) {
    const std::string hint = BitHint(name, header);
    return map.Error(
        line, absl::StrCat("the trace has no signal '", name, "'", hint.empty() ? Suggestion(name, header) : hint));
  }
  if (!var->HasBits()) {
    return map.Error(line, absl::StrCat("signal '", name, "' is a ", var->type, ", which has no bits"));
  }
  return var;
}

// Returns the domain of this clock, and adds the domain if the clock is new.
absl::StatusOr<size_t> BindClock(const SignalMap& map, size_t line, const std::string& name, const VcdHeader& header,
                                 EventBinding& binding) {
  SIDEBAND_ASSIGN_OR_RETURN(const VcdVar* var, FindSignal(map, line, name, header));
  if (var->width != 1) {
    return map.Error(line, absl::StrCat("clock '", name, "' has ", var->width, " bits, not one"));
  }
  const auto found = std::find(binding.clocks.begin(), binding.clocks.end(), var->slot);
  const auto domain = static_cast<size_t>(found - binding.clocks.begin());
  if (found != binding.clocks.end()) return domain;
  if (domain == kClockDomainsMax) return map.Error(line, absl::StrCat("more than ", kClockDomainsMax, " clocks"));
  binding.clocks.push_back(var->slot);
  binding.pulses.emplace_back();
  return domain;
}

absl::StatusOr<std::optional<uint32_t>> Position(const SignalMap& map, const EventSpec& event, const VcdVar& var) {
  if (!event.bit) return std::optional<uint32_t>();
  const std::optional<uint32_t> position = var.BitPosition(*event.bit);
  if (!position) {
    return map.Error(event.line, absl::StrCat("signal '", event.signal, "' has no bit ", *event.bit, ": it is [",
                                              var.left, ":", var.right, "]"));
  }
  return position;
}

absl::Status CheckWidth(const SignalMap& map, const EventSpec& event, const VcdVar& var) {
  const bool spread = event.op == EventOp::kPopcount || event.op == EventOp::kValue;
  if (!spread || event.bit) return absl::OkStatus();
  const uint32_t width_max = event.op == EventOp::kValue ? kValueWidthMax : kPopcountWidthMax;
  if (var.width <= width_max) return absl::OkStatus();
  return map.Error(event.line,
                   absl::StrCat("op ", event.op == EventOp::kValue ? "value" : "popcount", " takes signals of up to ",
                                width_max, " bits, '", event.signal, "' has ", var.width));
}

void WarnOfValue(const SignalMap& map, const EventSpec& event, const VcdVar& var, EventBinding& binding) {
  constexpr uint64_t kWordBits = 64;
  const uint64_t width = event.bit ? 1 : var.width;
  if (event.op != EventOp::kEquals || width >= kWordBits || event.value >> width == 0) return;
  const absl::Status warning = map.Error(
      event.line, absl::StrCat("event '", event.name, "' counts 0: value ", event.value, " does not fit into ", width,
                               width == 1 ? " bit" : " bits", " of '", event.signal, "'"));
  binding.warnings.emplace_back(warning.message());
}

absl::StatusOr<uint32_t> FindTag(const SignalMap& map, size_t line, const std::string& name, const VcdHeader& header) {
  constexpr uint64_t kTagWidthMax = 64;
  SIDEBAND_ASSIGN_OR_RETURN(const VcdVar* var, FindSignal(map, line, name, header));
  if (var->width <= kTagWidthMax) return var->slot;
  return map.Error(line, absl::StrCat("a requester has up to ", kTagWidthMax, " bits, '", name, "' has ", var->width));
}

absl::StatusOr<std::optional<TagSlots>> FindTags(const SignalMap& map, const EventSpec& event,
                                                 const VcdHeader& header) {
  if (!event.requester) return std::optional<TagSlots>();
  TagSlots tag;
  SIDEBAND_ASSIGN_OR_RETURN(tag.slice, FindTag(map, event.line, event.requester->slice, header));
  if (!event.requester->context.empty()) {
    SIDEBAND_ASSIGN_OR_RETURN(tag.context, FindTag(map, event.line, event.requester->context, header));
  }
  return tag;
}

// Assigns a domain and wires to the probe.
absl::Status BindWires(const SignalMap& map, const EventSpec& event, const VcdVar& var, size_t domain, uint32_t slices,
                       Probe& probe, EventBinding& binding) {
  SIDEBAND_RETURN_IF_ERROR(CheckWidth(map, event, var));
  const uint32_t count = WiresOf(probe, static_cast<uint32_t>(var.width));
  const uint32_t requesters = probe.tag ? RequestersOf(slices) : 1;
  if (binding.wires.total_wire_count() + count * requesters > kWaveformWiresMax) {
    return map.Error(event.line,
                     absl::StrCat("with this event there are more than ", kWaveformWiresMax, " bits to count in all"));
  }
  // The wires of a prescaled popcount carry the digits of a number.
  const bool weighted = event.op == EventOp::kValue || event.prescaled;
  probe.domain = domain;
  probe.first_wire = binding.wires.Append(domain, count, weighted, requesters);
  binding.pulses[domain].resize(binding.wires.wire_count(domain), event.op == EventOp::kRise);
  return absl::OkStatus();
}

absl::Status BindEvent(const SignalMap& map, const EventSpec& event, const VcdHeader& header, uint32_t slices,
                       EventBinding& binding) {
  size_t domain = 0;
  if (!event.clock.empty()) {
    SIDEBAND_ASSIGN_OR_RETURN(domain, BindClock(map, event.line, event.clock, header, binding));
  }
  SIDEBAND_ASSIGN_OR_RETURN(const VcdVar* var, FindSignal(map, event.line, event.signal, header));
  SIDEBAND_ASSIGN_OR_RETURN(const std::optional<uint32_t> position, Position(map, event, *var));
  Probe probe{
      .slot = var->slot, .op = event.op, .prescaled = event.prescaled, .position = position, .value = event.value};
  SIDEBAND_ASSIGN_OR_RETURN(probe.tag, FindTags(map, event, header));
  SIDEBAND_RETURN_IF_ERROR(BindWires(map, event, *var, domain, slices, probe, binding));
  WarnOfValue(map, event, *var, binding);
  binding.probes.push_back(probe);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<EventBinding> BindEvents(const SignalMap& map, const VcdHeader& header, uint32_t slices) {
  EventBinding binding;
  binding.parts = header.parts;
  SIDEBAND_RETURN_IF_ERROR(BindClock(map, map.clock_line(), map.clock(), header, binding).status());
  for (const EventSpec& event : map.events()) SIDEBAND_RETURN_IF_ERROR(BindEvent(map, event, header, slices, binding));
  return binding;
}

}  // namespace sideband::sim
