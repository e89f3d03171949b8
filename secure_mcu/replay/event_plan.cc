// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/replay/event_plan.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/mailbox/catalog.h"

namespace sideband::mcu {
namespace {

// Gathers inputs per unit-level counter; those without a name are packed at the end.
class UnitPacker {
 public:
  void Add(const std::string& ulc, const CounterInput& input) {
    if (ulc.empty()) {
      unnamed_.push_back(input);
      return;
    }
    const auto [entry, is_new] = index_.try_emplace(ulc, named_.size());
    if (is_new) named_.push_back({.name = ulc});
    named_[entry->second].inputs.push_back(input);
  }
  size_t SizeOf(const std::string& ulc) const { return ulc.empty() ? 0 : named_[index_.at(ulc)].inputs.size(); }

  std::vector<CcuSpec> Pack() && {
    std::vector<CcuSpec> ccus = sideband::mcu::Pack("packed", 0, unnamed_, UlcSpec{});
    for (UlcSpec& ulc : named_) {
      if (ccus.empty() || ccus.back().ulcs.size() == kCcuUlcsMax) {
        ccus.push_back({.name = absl::StrCat("named.ccu", ccus.size())});
      }
      ccus.back().ulcs.push_back(std::move(ulc));
    }
    return ccus;
  }

 private:
  std::vector<CounterInput> unnamed_;
  std::vector<UlcSpec> named_;
  std::map<std::string, size_t> index_;
};

// The same units on each slice.
std::vector<CcuSpec> OnEverySlice(const std::vector<CcuSpec>& units, uint32_t slices) {
  std::vector<CcuSpec> ccus;
  for (uint32_t slice = 0; slice < slices; ++slice) {
    for (CcuSpec ccu : units) {
      ccu.channel = static_cast<uint8_t>(slice);
      ccu.name = absl::StrCat("slice", slice, ".", ccu.name);
      ccus.push_back(std::move(ccu));
    }
  }
  return ccus;
}

}  // namespace

absl::StatusOr<EventPlan> PlanEvents(const sim::SignalMap& map, const sim::EventWires& wires, uint32_t slices) {
  EventPlan plan;
  UnitPacker packer;
  std::map<std::string, uint16_t> counters;
  for (size_t i = 0; i < map.events().size(); ++i) {
    const sim::EventSpec& event = map.events()[i];
    const auto [counter, is_new] = counters.try_emplace(event.name, static_cast<uint16_t>(plan.events.size()));
    if (is_new) plan.events.push_back(event.name);
    if (plan.events.size() > mailbox::kEventsMax) {
      return map.Error(event.line, absl::StrCat("more than ", mailbox::kEventsMax, " events"));
    }
    for (const sim::EventWire& wire : wires.wires(i)) {
      packer.Add(event.ulc, {.wire = wire.wire, .meaning = {counter->second, wire.shift}});
    }
    if (packer.SizeOf(event.ulc) > kUlcCountersMax) {
      return map.Error(event.line, absl::StrCat("unit-level counter '", event.ulc, "' needs more than ",
                                                kUlcCountersMax, " counters"));
    }
  }
  plan.ccus = OnEverySlice(std::move(packer).Pack(), slices);
  return plan;
}

}  // namespace sideband::mcu
