// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/replay/unit_dealer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

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

}  // namespace sideband::mcu
