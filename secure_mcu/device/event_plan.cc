// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/device/event_plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace sideband::mcu {
namespace {

using Inputs = std::vector<CounterInput>;

// The largest first, those of one size in the order of first appearance.
std::vector<Inputs> ByEvent(const Inputs& inputs) {
  std::map<uint16_t, size_t> index;
  std::vector<Inputs> events;
  for (const CounterInput& input : inputs) {
    const auto [event, is_new] = index.try_emplace(input.meaning.event, events.size());
    if (is_new) events.emplace_back();
    events[event->second].push_back(input);
  }
  std::ranges::stable_sort(events, std::ranges::greater(), &Inputs::size);
  return events;
}

// `counters` shared out as evenly as it goes.
std::vector<UlcSpec> EmptyUnits(uint32_t domain, uint32_t counters) {
  const uint32_t count = (counters + kUlcCountersMax - 1) / kUlcCountersMax;
  std::vector<UlcSpec> units;
  for (uint32_t unit = 0; unit < count; ++unit) {
    const uint32_t share = counters / count + (unit < counters % count ? 1 : 0);
    units.push_back({.name = absl::StrCat("ulc", unit), .domain = domain, .inputs = {}, .counters = share});
  }
  return units;
}

std::vector<UlcSpec> Deal(uint32_t domain, const Inputs& inputs, uint32_t counters) {
  std::vector<UlcSpec> units = EmptyUnits(domain, counters);
  for (const Inputs& event : ByEvent(inputs)) {
    UlcSpec& least = *std::ranges::min_element(units, {}, [](const UlcSpec& unit) { return unit.inputs.size(); });
    least.inputs.insert(least.inputs.end(), event.begin(), event.end());
  }
  std::erase_if(units, [](const UlcSpec& unit) { return unit.inputs.empty(); });
  return units;
}

std::vector<CcuSpec> Collect(const std::string& name, uint8_t channel, const std::vector<UlcSpec>& units) {
  std::vector<CcuSpec> ccus;
  for (const UlcSpec& unit : units) {
    if (ccus.empty() || ccus.back().ulcs.size() == kCcuUlcsMax) {
      ccus.push_back({.name = absl::StrCat(name, ".ccu", ccus.size()), .channel = channel, .ulcs = {}});
    }
    ccus.back().ulcs.push_back(unit);
  }
  return ccus;
}

// A string of the catalogue has a length of one byte.
constexpr size_t kNameSizeMax = 255;
constexpr uint8_t kGuestGroup = 0, kHostGroup = 1;

// One counter per wire; the lowest digits of a prescaled number share a counter.
std::vector<CounterInput> Ungated(const sim::EventSpec& spec, std::span<const sim::EventWire> wires, uint16_t event) {
  if (spec.prescaled) return NumberInputs(wires[0].wire, static_cast<uint32_t>(wires.size()), event, true);
  std::vector<CounterInput> inputs;
  for (const sim::EventWire& wire : wires) inputs.push_back({.wire = wire.wire, .meaning = {event, wire.shift}});
  return inputs;
}

std::vector<CounterInput> GroupedInputs(const sim::EventSpec& spec, std::span<const sim::EventWire> wires,
                                        uint16_t event) {
  std::vector<CounterInput> inputs = Ungated(spec, wires, event);
  for (CounterInput& input : inputs) {
    if (spec.in_host) input.group = *spec.in_host ? kHostGroup : kGuestGroup;
  }
  return inputs;
}

// The units of one channel: named unit-level counters, and the other inputs packed per clock domain.
class ChannelPacker {
 public:
  void Add(const std::string& ulc, uint32_t domain, const std::vector<CounterInput>& inputs) {
    std::vector<CounterInput>& into = ulc.empty() ? unnamed_[domain] : Named(ulc, domain).inputs;
    into.insert(into.end(), inputs.begin(), inputs.end());
  }
  size_t SizeOf(const std::string& ulc) const {
    const auto found = index_.find(ulc);
    return found == index_.end() ? 0 : named_[found->second].inputs.size();
  }

  // `counters`: of the unnamed units; none: one for each input.
  std::vector<CcuSpec> Pack(const std::string& name, uint8_t channel, std::optional<uint32_t> counters) const {
    std::vector<CcuSpec> ccus = counters ? DealUnits(name, channel, unnamed_, *counters) : PackUnnamed(name, channel);
    for (size_t i = 0; i < named_.size(); ++i) {
      if (i % kCcuUlcsMax == 0) {
        ccus.push_back({.name = absl::StrCat(name, ".named", i / kCcuUlcsMax), .channel = channel, .ulcs = {}});
      }
      ccus.back().ulcs.push_back(named_[i]);
    }
    return ccus;
  }

 private:
  std::vector<CcuSpec> PackUnnamed(const std::string& name, uint8_t channel) const {
    std::vector<CcuSpec> ccus;
    for (const auto& [domain, inputs] : unnamed_) {
      const UlcSpec like{.domain = domain, .inputs = {}};
      for (CcuSpec& ccu : sideband::mcu::Pack(absl::StrCat(name, ".clock", domain), channel, inputs, like)) {
        ccus.push_back(std::move(ccu));
      }
    }
    return ccus;
  }

  UlcSpec& Named(const std::string& ulc, uint32_t domain) {
    const auto [entry, is_new] = index_.try_emplace(ulc, named_.size());
    if (is_new) named_.push_back({.name = ulc, .domain = domain, .inputs = {}});
    return named_[entry->second];
  }

  std::map<uint32_t, std::vector<CounterInput>> unnamed_;  // by domain
  std::vector<UlcSpec> named_;
  std::map<std::string, size_t> index_;  // into named_
};

class Planner {
 public:
  Planner(const sim::SignalMap& map, const sim::EventWires& wires, uint32_t slices, std::optional<uint32_t> counters)
      : map_(map), wires_(wires), slices_(slices), counters_per_slice_(counters) {}

  absl::StatusOr<EventPlan> Plan() && {
    for (size_t i = 0; i < map_.events().size(); ++i) SIDEBAND_RETURN_IF_ERROR(Add(i));
    for (const auto& [channel, packer] : packers_) {
      const bool is_device = channel == kDeviceChannel;
      const std::string name = is_device ? "device" : absl::StrCat("slice", int{channel});
      const auto counters = is_device ? std::nullopt : counters_per_slice_;
      for (CcuSpec& ccu : packer.Pack(name, channel, counters)) plan_.ccus.push_back(std::move(ccu));
    }
    return std::move(plan_);
  }

 private:
  absl::Status Add(size_t index) {
    const sim::EventSpec& spec = map_.events()[index];
    SIDEBAND_ASSIGN_OR_RETURN(const uint16_t event, CounterOf(spec));
    SIDEBAND_RETURN_IF_ERROR(CheckUlc(spec, wires_.domain(index)));
    SIDEBAND_ASSIGN_OR_RETURN(const std::vector<uint8_t> channels, Channels(spec));
    if (spec.in_host && counters_per_slice_) {
      return map_.Error(
          spec.line, absl::StrCat("event '", spec.name, "' has a mode: with a rotation, events count in both modes"));
    }
    if (spec.in_host) plan_.gate_groups = {{}, {.in_guest = false, .in_host = true}};
    for (const uint8_t channel : channels) {
      SIDEBAND_RETURN_IF_ERROR(AddTo(channel, spec, index, GroupedInputs(spec, WiresOf(index, channel), event)));
    }
    return spec.requester ? AddUnattributed(index) : absl::OkStatus();
  }

  absl::Status AddTo(uint8_t channel, const sim::EventSpec& spec, size_t index,
                     const std::vector<CounterInput>& inputs) {
    packers_[channel].Add(spec.ulc, static_cast<uint32_t>(wires_.domain(index)), inputs);
    if (packers_[channel].SizeOf(spec.ulc) <= kUlcCountersMax) return absl::OkStatus();
    return map_.Error(
        spec.line, absl::StrCat("unit-level counter '", spec.ulc, "' needs more than ", kUlcCountersMax, " counters"));
  }

  // An event with a requester has those of the channel's slice, or for the device those of unattributed requests.
  std::span<const sim::EventWire> WiresOf(size_t index, uint8_t channel) const {
    const std::span<const sim::EventWire> wires = wires_.wires(index);
    if (!map_.events()[index].requester) return wires;
    const size_t requester = channel == kDeviceChannel ? slices_ : channel;
    const size_t count = wires.size() / (slices_ + 1);
    return wires.subspan(requester * count, count);
  }

  absl::Status AddUnattributed(size_t index) {
    const sim::EventSpec& spec = map_.events()[index];
    sim::EventSpec rest = spec;
    rest.name = UnattributedEvent(spec.name);
    rest.ulc.clear();  // the unit has them apart from those of slices
    rest.requester.reset();
    rest.in_host.reset();
    rest.device_scope = true;
    if (rest.name.size() > kNameSizeMax) {
      return map_.Error(spec.line, absl::StrCat("event '", rest.name, "' has more than ", kNameSizeMax, " characters"));
    }
    SIDEBAND_ASSIGN_OR_RETURN(const uint16_t event, CounterOf(rest, spec.name));
    return AddTo(kDeviceChannel, rest, index, GroupedInputs(rest, WiresOf(index, kDeviceChannel), event));
  }

  absl::StatusOr<uint16_t> CounterOf(const sim::EventSpec& spec, const std::string& unattributed_of = "") {
    const auto scope = spec.device_scope ? mailbox::EventScope::kDevice : mailbox::EventScope::kContext;
    const auto [counter, is_new] = counters_.try_emplace(spec.name, static_cast<uint16_t>(plan_.events.size()));
    if (is_new) {
      plan_.events.push_back({spec.name, scope, spec.prescaled, spec.requester.has_value(), unattributed_of});
    }
    if (plan_.events[counter->second].unattributed_of != unattributed_of) {
      return map_.Error(spec.line, absl::StrCat("event '", spec.name, "' is also that of unattributed requests"));
    }
    if (plan_.events[counter->second].scope != scope) {
      return map_.Error(spec.line, absl::StrCat("event '", spec.name, "' is both of contexts and of the device"));
    }
    if (plan_.events[counter->second].is_shared != spec.requester.has_value()) {
      return map_.Error(spec.line,
                        absl::StrCat("event '", spec.name, "' is counted both with and without a requester"));
    }
    if (plan_.events[counter->second].prescaled != spec.prescaled) {
      return map_.Error(spec.line, absl::StrCat("event '", spec.name, "' is counted both in full and prescaled"));
    }
    if (plan_.events.size() > mailbox::kEventsMax) {
      return map_.Error(spec.line, absl::StrCat("more than ", mailbox::kEventsMax, " events"));
    }
    return counter->second;
  }

  // All events of a unit-level counter have the same clock and the same scope.
  absl::Status CheckUlc(const sim::EventSpec& spec, size_t domain) {
    if (spec.ulc.empty()) return absl::OkStatus();
    const auto [found, is_new] = ulcs_.try_emplace(spec.ulc, domain, spec.device_scope);
    if (found->second == std::pair(domain, spec.device_scope)) return absl::OkStatus();
    return map_.Error(spec.line, absl::StrCat("unit-level counter '", spec.ulc, "' has events of two ",
                                              found->second.first == domain ? "scopes" : "clocks"));
  }

  absl::StatusOr<std::vector<uint8_t>> Channels(const sim::EventSpec& spec) const {
    if (spec.device_scope) return std::vector<uint8_t>{kDeviceChannel};
    if (spec.slice && *spec.slice >= slices_) {
      return map_.Error(spec.line, absl::StrCat("slice is ", *spec.slice, ", must be from 0 to ", slices_ - 1));
    }
    if (spec.slice) return std::vector<uint8_t>{static_cast<uint8_t>(*spec.slice)};
    std::vector<uint8_t> every(slices_);
    for (uint32_t slice = 0; slice < slices_; ++slice) every[slice] = static_cast<uint8_t>(slice);
    return every;
  }

  const sim::SignalMap& map_;
  const sim::EventWires& wires_;
  const uint32_t slices_;
  const std::optional<uint32_t> counters_per_slice_;
  EventPlan plan_;
  std::map<std::string, uint16_t> counters_;
  std::map<std::string, std::pair<size_t, bool>> ulcs_;  // by name: domain, and whether the scope is the device
  std::map<uint8_t, ChannelPacker> packers_;             // by channel
};

}  // namespace

std::vector<CcuSpec> DealUnits(const std::string& name, uint8_t channel,
                               const std::map<uint32_t, Inputs>& inputs_by_domain, uint32_t counters) {
  uint64_t total = 0, before = 0;
  for (const auto& [domain, inputs] : inputs_by_domain) total += inputs.size();
  std::vector<CcuSpec> ccus;
  for (const auto& [domain, inputs] : inputs_by_domain) {
    const uint64_t begin = before * counters / total;
    before += inputs.size();
    const auto share = static_cast<uint32_t>(std::max<uint64_t>(1, before * counters / total - begin));
    const std::string unit = absl::StrCat(name, ".clock", domain);
    const UlcSpec like{.domain = domain, .inputs = {}};
    const auto made = inputs.size() <= share ? Pack(unit, channel, inputs, like)
                                             : Collect(unit, channel, Deal(domain, inputs, share));
    ccus.insert(ccus.end(), made.begin(), made.end());
  }
  return ccus;
}

std::string UnattributedEvent(const std::string& event) { return absl::StrCat("unattributed_", event); }

absl::StatusOr<EventPlan> PlanEvents(const sim::SignalMap& map, const sim::EventWires& wires, uint32_t slices,
                                     std::optional<uint32_t> counters) {
  return Planner(map, wires, slices, counters).Plan();
}

}  // namespace sideband::mcu
