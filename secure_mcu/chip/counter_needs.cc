// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/counter_needs.h"

#include <algorithm>
#include <set>
#include <utility>

namespace sideband::mcu {
namespace {

// What makes kinds alike.
using Shape = std::pair<uint32_t, std::vector<std::pair<uint16_t, uint8_t>>>;

Shape ShapeOf(const SwitchedKind& kind) {
  Shape shape{kind.counters, {}};
  for (const EventShare& share : kind.sources) shape.second.emplace_back(share.event, share.shift);
  return shape;
}

}  // namespace

void Add(const Need& need, Need& sum) {
  for (const auto& [kind, counters] : need) sum[kind] += counters;
}

bool Fits(const Need& need, const Room& room) {
  return std::ranges::all_of(need, [&](const auto& entry) { return entry.second <= room[entry.first]; });
}

void Take(const Need& need, Room& room) {
  for (const auto& [kind, counters] : need) room[kind] -= counters;
}

CounterNeeds::CounterNeeds(const PipelineConfig& config) : needs_(config.events) {
  std::set<Shape> shapes;
  for (const CcuSpec& ccu : config.ccus) {
    for (SwitchedKind& kind : SwitchedKinds(ccu)) {
      if (shapes.insert(ShapeOf(kind)).second) kinds_.push_back(std::move(kind));
    }
  }
  for (size_t kind = 0; kind < kinds_.size(); ++kind) {
    for (const EventShare& share : kinds_[kind].sources) ++needs_[share.event][kind];
  }
}

Room CounterNeeds::AllCounters() const {
  Room room;
  for (const SwitchedKind& kind : kinds_) room.push_back(kind.counters);
  return room;
}

const Need& CounterNeeds::Of(size_t event) const {
  static const Need* const none = new Need();
  return event < needs_.size() ? needs_[event] : *none;
}

Need CounterNeeds::Of(const mailbox::EventSet& events) const {
  Need sum;
  for (size_t event = 0; event < needs_.size(); ++event) {
    if (mailbox::Includes(events, event)) Add(needs_[event], sum);
  }
  return sum;
}

}  // namespace sideband::mcu
