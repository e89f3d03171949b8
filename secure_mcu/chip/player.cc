// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/player.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/string_view.h"

namespace sideband::mcu {
namespace {

// Positions in `tenants` by VM and context.
std::map<std::pair<absl::string_view, absl::string_view>, size_t> Index(const std::vector<Tenant>& tenants) {
  std::map<std::pair<absl::string_view, absl::string_view>, size_t> index;
  for (size_t i = 0; i < tenants.size(); ++i) index.try_emplace({tenants[i].vm, tenants[i].context}, i);
  return index;
}

}  // namespace

void Player::Make(const SwitchEvent& event) {
  sim::WireSource* const source = sources_[event.slice];
  if (!event.tenant) {
    chip_.SwitchTo(event.slice, std::nullopt);
    if (source != nullptr) source->SwitchOut(event.cycle);
    return;
  }
  const Tenant& tenant = timeline_.tenants()[*event.tenant];
  // The chip first: its flush still reads the wires of the tenant that leaves.
  chip_.SwitchTo(event.slice, tenant.binding);
  if (source != nullptr) source->SwitchIn(tenant.vm, tenant.context, event.cycle);
}

// Exits and entries stop no counting, so that they are told ahead, up to the next switch.
void Player::ChangeModesUpTo(uint64_t cycle) {
  for (; next_of_host_ < cycle; next_of_host_ = host_.NextChange(next_of_host_)) {
    const bool is_host = host_.IsHost(next_of_host_);
    for (uint8_t slice = 0; slice < sources_.size(); ++slice) ChangeMode({next_of_host_, slice, is_host});
  }
  for (; next_mode_ < modes_.size() && modes_[next_mode_].cycle < cycle; ++next_mode_) ChangeMode(modes_[next_mode_]);
}

void Player::ChangeMode(const ModeEvent& event) {
  if (event.is_host) {
    chip_.guests().Exit(event.slice, event.cycle);
  } else {
    chip_.guests().Enter(event.slice, event.cycle);
  }
  sim::WireSource* const source = sources_[event.slice];
  if (source != nullptr) source->SwitchMode(event.is_host, event.cycle, chip_.now());
}

// At one cycle the switch comes first, so that the next resident makes the exit.
void Player::PlayTo(uint64_t cycle) {
  for (auto next = timeline_.Peek(); next && next->cycle <= cycle; next = timeline_.Peek()) {
    ChangeModesUpTo(next->cycle);
    chip_.AdvanceTo(next->cycle);
    Make(*next);
    timeline_.Pop();
  }
  ChangeModesUpTo(cycle + 1);
  chip_.AdvanceTo(cycle);
}

void Player::Vacate() {
  for (uint8_t slice = 0; slice < sources_.size(); ++slice) Make({.cycle = chip_.now(), .slice = slice});
}

ScheduleTimeline::ScheduleTimeline(const std::vector<sim::Residency>& residencies, std::vector<Tenant> tenants,
                                   uint64_t turn_cycles)
    : tenants_(std::move(tenants)), turn_cycles_(turn_cycles) {
  const uint64_t turn_end = turn_cycles == 0 ? std::numeric_limits<uint64_t>::max() : turn_cycles;
  const auto index = Index(tenants_);
  std::set<std::pair<uint32_t, uint64_t>> starts;  // by slice and cycle
  for (const sim::Residency& residency : residencies) starts.emplace(residency.slice, residency.start_cycle);
  for (const sim::Residency& residency : residencies) {
    if (residency.start_cycle >= turn_end) continue;
    const auto slice = static_cast<uint8_t>(residency.slice);
    events_.push_back({residency.start_cycle, slice, index.at({residency.vm, residency.context})});
    // A residency that follows at once takes over the slice in a single switch.
    const bool is_followed = residency.end_cycle < turn_end && starts.contains({residency.slice, residency.end_cycle});
    if (!is_followed) events_.push_back({std::min(residency.end_cycle, turn_end), slice, std::nullopt});
  }
  // At the same cycle, slices become idle before others are entered.
  std::stable_sort(events_.begin(), events_.end(), [](const SwitchEvent& a, const SwitchEvent& b) {
    return std::tuple(a.cycle, a.tenant.has_value()) < std::tuple(b.cycle, b.tenant.has_value());
  });
}

std::optional<SwitchEvent> ScheduleTimeline::Peek() const {
  if (next_ == events_.size()) return std::nullopt;
  SwitchEvent event = events_[next_];
  event.cycle += turn_start_;
  return event;
}

void ScheduleTimeline::Pop() {
  if (++next_ < events_.size() || turn_cycles_ == 0) return;
  next_ = 0;
  turn_start_ += turn_cycles_;
}

}  // namespace sideband::mcu
