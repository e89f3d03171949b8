// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/event_binding.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"

namespace sideband::sim {
namespace {

// Longer names are not compared with a whole trace's: the time for it grows with the product of lengths.
constexpr size_t kSuggestionSizeMax = 256;

std::string Suggestion(const std::string& name, const VcdHeader& header) {
  return name.size() > kSuggestionSizeMax ? "" : DidYouMean(name, header.names);
}

absl::StatusOr<const VcdVar*> FindSignal(const SignalMap& map, size_t line, const std::string& name,
                                         const VcdHeader& header) {
  const VcdVar* var = header.Find(name);
  if (var == nullptr) {
    return map.Error(line, absl::StrCat("the trace has no signal '", name, "'", Suggestion(name, header)));
  }
  if (!var->HasBits()) {
    return map.Error(line, absl::StrCat("signal '", name, "' is a ", var->type, ", which has no bits"));
  }
  return var;
}

absl::StatusOr<uint32_t> BindClock(const SignalMap& map, const VcdHeader& header) {
  SIDEBAND_ASSIGN_OR_RETURN(const VcdVar* var, FindSignal(map, map.clock_line(), map.clock(), header));
  if (var->width != 1) {
    return map.Error(map.clock_line(), absl::StrCat("clock '", map.clock(), "' has ", var->width, " bits, not one"));
  }
  return var->slot;
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

// Wires that the event needs.
absl::StatusOr<uint32_t> WireCount(const SignalMap& map, const EventSpec& event, const VcdVar& var) {
  const bool spread = event.op == EventOp::kPopcount || event.op == EventOp::kValue;
  if (!spread || event.bit) return 1;
  const uint32_t width_max = event.op == EventOp::kValue ? kValueWidthMax : kPopcountWidthMax;
  if (var.width > width_max) {
    return map.Error(event.line,
                     absl::StrCat("op ", event.op == EventOp::kValue ? "value" : "popcount", " takes signals of up to ",
                                  width_max, " bits, '", event.signal, "' has ", var.width));
  }
  return static_cast<uint32_t>(var.width);
}

absl::Status BindEvent(const SignalMap& map, const EventSpec& event, const VcdHeader& header, EventBinding& binding) {
  SIDEBAND_ASSIGN_OR_RETURN(const VcdVar* var, FindSignal(map, event.line, event.signal, header));
  SIDEBAND_ASSIGN_OR_RETURN(const std::optional<uint32_t> position, Position(map, event, *var));
  SIDEBAND_ASSIGN_OR_RETURN(const uint32_t wires, WireCount(map, event, *var));
  if (binding.wires.wire_count() + wires > kWaveformWiresMax) {
    return map.Error(event.line,
                     absl::StrCat("with this event there are more than ", kWaveformWiresMax, " bits to count in all"));
  }
  const WireId first = binding.wires.Append(wires, event.op == EventOp::kValue);
  binding.pulses.resize(binding.wires.wire_count(), event.op == EventOp::kRise);
  binding.probes.push_back(
      {.slot = var->slot, .op = event.op, .position = position, .value = event.value, .first_wire = first});
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<EventBinding> BindEvents(const SignalMap& map, const VcdHeader& header) {
  EventBinding binding;
  SIDEBAND_ASSIGN_OR_RETURN(binding.clock, BindClock(map, header));
  for (const EventSpec& event : map.events()) SIDEBAND_RETURN_IF_ERROR(BindEvent(map, event, header, binding));
  return binding;
}

}  // namespace sideband::sim
