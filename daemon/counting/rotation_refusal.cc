// SPDX-License-Identifier: Apache-2.0
#include "daemon/counting/rotation_refusal.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"

namespace sideband::daemon {
namespace {

using mailbox::Catalog;
using mailbox::RotationPlan;
using mailbox::RotationRequest;
using mailbox::RotationSettings;

std::string TimeText(uint64_t cycles, uint64_t hertz) {
  if (hertz == 0) return absl::StrCat(cycles, " cycles");
  const absl::uint128 ns = absl::uint128(cycles) * 1'000'000'000 / hertz;
  return absl::FormatDuration(
      absl::Nanoseconds(static_cast<int64_t>(std::min<absl::uint128>(ns, std::numeric_limits<int64_t>::max()))));
}

// The turns of the device's own plan are neither too short nor too long for it, and those between neither.
void AddTimes(const RotationSettings& wanted, const Catalog& catalog, std::vector<std::string>& reasons) {
  const std::pair<const char*, uint64_t> times[] = {{"slots.stable", wanted.stable_slot},
                                                    {"slots.fluctuating", wanted.fluctuating_slot},
                                                    {"interval", wanted.interval}};
  const auto own = std::ranges::find(catalog.plans, mailbox::kOwnPlan, &RotationPlan::number);
  uint64_t low = std::numeric_limits<uint64_t>::max(), high = 0;
  if (own != catalog.plans.end()) {
    low = std::min(own->settings.stable_slot, own->settings.fluctuating_slot);
    high = std::max({own->settings.stable_slot, own->settings.fluctuating_slot, own->settings.interval});
  }
  for (const auto& [key, time] : times) {
    const std::string text = TimeText(time, catalog.reference_clock_hz);
    if (time < low) {
      reasons.push_back(
          absl::StrCat(key, ": ", text, " may be shorter than the device allows, which is half of its own slots"));
    }
    if (time > high) reasons.push_back(absl::StrCat(key, ": ", text, " may be longer than the device can measure"));
  }
}

// Those that are always counted may be pinned.
bool TakesTurns(const RotationRequest& request, const Catalog& catalog, size_t event) {
  if (catalog.events[event].details.counting == mailbox::Counting::kFixed) return false;
  const bool is_wanted = request.events.empty() || mailbox::Includes(request.events, event);
  return is_wanted && !mailbox::Includes(request.always, event);
}

void AddGroups(const RotationRequest& request, const Catalog& catalog, std::vector<std::string>& reasons) {
  std::set<std::string> groups;
  for (size_t event = 0; event < catalog.events.size(); ++event) {
    const uint8_t group = catalog.events[event].details.gate_group;
    if (group < catalog.gate_groups.size() && TakesTurns(request, catalog, event)) {
      groups.insert(catalog.gate_groups[group].name);
    }
  }
  if (groups.empty()) return;
  reasons.push_back(absl::StrCat("events: a gate group that is pinned for the VM cannot be multiplexed, and ",
                                 absl::StrJoin(groups, ", "), " may be pinned"));
}

}  // namespace

std::string RefusalText(const RotationRequest& request, const Catalog& catalog) {
  std::vector<std::string> reasons;
  AddTimes(request.settings, catalog, reasons);
  // Each event fits beside the fixed ones: it does so in the device's own plan.
  if (std::ranges::any_of(request.always, [](uint64_t word) { return word != 0; })) {
    reasons.emplace_back("always: these events may leave too few counters for the others");
  }
  AddGroups(request, catalog, reasons);
  reasons.emplace_back(
      "events: they may need more counter sets than the VM and the device have left; fewer events need fewer");
  return absl::StrCat("the device refuses this rotation: ", absl::StrJoin(reasons, "; or "));
}

}  // namespace sideband::daemon
