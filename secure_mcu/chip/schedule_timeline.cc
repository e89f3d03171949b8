// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/schedule_timeline.h"

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
