// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/event_binding.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "sim/waveform/vcd_header.h"

namespace sideband::sim {
namespace {

bool BitAt(std::span<const uint64_t> words, uint32_t position) {
  return (words[position / 64] >> position % 64 & 1) != 0;
}

bool AnyBit(std::span<const uint64_t> words) {
  return std::any_of(words.begin(), words.end(), [](uint64_t word) { return word != 0; });
}

// The level of an event's only wire: `bits` is the signal, or the selected bit alone.
bool Level(const Probe& probe, std::span<const uint64_t> bits) {
  switch (probe.op) {
    case EventOp::kLow:
      return !AnyBit(bits);
    case EventOp::kEquals:
      return bits[0] == probe.value && !AnyBit(bits.subspan(1));
    default:
      return AnyBit(bits);
  }
}

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

// Each cycle ends with a change of its clock to 1: before it the clock is 0, x or z, which is 0.
void WarnOfClock(const SignalMap& map, const EventSpec& event, const VcdVar& var, size_t domain,
                 EventBinding& binding) {
  const bool holds_while_low = event.op == EventOp::kLow || (event.op == EventOp::kEquals && event.value != 1);
  if (var.slot != binding.clocks[domain] || holds_while_low) return;
  const absl::Status warning =
      map.Error(event.line, absl::StrCat("event '", event.name, "' counts 0: the clock '", event.signal,
                                         "' is low before each of its edges; to count its cycles, use op low"));
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
  WarnOfClock(map, event, *var, domain, binding);
  binding.probes.push_back(probe);
  return absl::OkStatus();
}

}  // namespace

bool IsSpread(const Probe& probe) {
  return !probe.position && (probe.op == EventOp::kPopcount || probe.op == EventOp::kValue);
}

bool LevelOf(const Probe& probe, std::span<const uint64_t> signal) {
  if (!probe.position) return Level(probe, signal);
  const uint64_t selected = BitAt(signal, *probe.position) ? 1 : 0;
  return Level(probe, {&selected, 1});
}

uint64_t SetBits(std::span<const uint64_t> words) {
  uint64_t count = 0;
  for (const uint64_t word : words) count += static_cast<uint64_t>(std::popcount(word));
  return count;
}

uint32_t WiresOf(const Probe& probe, uint32_t width) {
  if (!IsSpread(probe)) return 1;
  const bool counts = probe.op == EventOp::kPopcount && probe.prescaled;
  return counts ? static_cast<uint32_t>(std::bit_width(width)) : width;
}

TaggedProbe::TaggedProbe(const Probe& probe, uint32_t width, uint32_t slices)
    : probe_(probe),
      wires_(WiresOf(probe, width)),
      none_(slices),
      requester_(slices),
      levels_((wires_ + 63) / 64),
      shown_(levels_.size()) {}

void TaggedProbe::Follow(std::span<const uint64_t> signal, std::optional<uint32_t> slice, TraceWriter& writer) {
  ReadLevels(signal);
  const uint32_t requester = slice.value_or(none_);
  if (requester != requester_) {
    Hide(writer);
    requester_ = requester;
  }
  SetWires(levels_, writer);
}

void TaggedProbe::Hide(TraceWriter& writer) { SetWires(std::vector<uint64_t>(levels_.size()), writer); }

void TaggedProbe::ReadLevels(std::span<const uint64_t> signal) {
  if (!IsSpread(probe_)) {
    levels_[0] = LevelOf(probe_, signal) ? 1 : 0;
  } else if (probe_.op == EventOp::kPopcount && probe_.prescaled) {
    levels_[0] = SetBits(signal);
  } else {
    std::ranges::copy(signal, levels_.begin());
  }
}

void TaggedProbe::SetWires(std::span<const uint64_t> levels, TraceWriter& writer) {
  for (size_t i = 0; i < levels.size(); ++i) {
    const WireId first = probe_.first_wire + requester_ * wires_ + static_cast<uint32_t>(i * 64);
    for (uint64_t changed = levels[i] ^ shown_[i]; changed != 0; changed &= changed - 1) {
      const auto position = static_cast<uint32_t>(std::countr_zero(changed));
      writer.Set(probe_.domain, first + position, (levels[i] >> position & 1) != 0);
    }
    shown_[i] = levels[i];
  }
}

absl::StatusOr<EventBinding> BindEvents(const SignalMap& map, const VcdHeader& header, uint32_t slices) {
  EventBinding binding;
  binding.parts = header.parts;
  SIDEBAND_RETURN_IF_ERROR(BindClock(map, map.clock_line(), map.clock(), header, binding).status());
  for (const EventSpec& event : map.events()) SIDEBAND_RETURN_IF_ERROR(BindEvent(map, event, header, slices, binding));
  return binding;
}

}  // namespace sideband::sim
