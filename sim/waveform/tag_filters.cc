// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/tag_filters.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "proto/base/errors.h"
#include "proto/base/status_macros.h"

namespace sideband::sim {
namespace {

// The first event that goes by contexts, or null.
const EventSpec* FindEventByContext(const SignalMap& map) {
  const auto goes_by_context = [](const EventSpec& event) {
    return event.requester && !event.requester->context.empty();
  };
  const auto found = std::ranges::find_if(map.events(), goes_by_context);
  return found == map.events().end() ? nullptr : &*found;
}

absl::Status CheckTags(const SignalMap& map, const std::vector<Residency>& schedule, const std::string& path) {
  const EventSpec* event = FindEventByContext(map);
  if (event == nullptr) return absl::OkStatus();
  const auto lacks_tag = [](const Residency& residency) { return !residency.tag && !residency.is_host(); };
  const auto found = std::ranges::find_if(schedule, lacks_tag);
  if (found == schedule.end()) return absl::OkStatus();
  return LineError(
      path, found->line,
      absl::StrCat("the residency has no tag, with which event '", event->name, "' compares the context of a request"));
}

}  // namespace

absl::StatusOr<TagFilters> TagFilters::Create(const SignalMap& map, const std::vector<Residency>& schedule,
                                              const std::string& schedule_path, uint32_t slices,
                                              const std::set<std::string>& private_vms) {
  SIDEBAND_RETURN_IF_ERROR(CheckTags(map, schedule, schedule_path));
  TagFilters filters;
  filters.slices_ = slices;
  for (const Residency& residency : schedule) {
    filters.changes_.push_back(
        {residency.start_cycle, residency.slice, {.is_resident = true, .context = residency.tag}});
    filters.changes_.push_back({residency.end_cycle, residency.slice, {}});
    if (private_vms.contains(residency.vm)) filters.MarkPrivate(residency);
  }
  // Where a residency begins as another ends, the end is first: the rows of a slice are in order.
  std::ranges::stable_sort(filters.changes_, {}, &Change::cycle);
  return filters;
}

void TagFilters::MarkPrivate(const Residency& residency) {
  private_slices_.insert(residency.slice);
  if (residency.tag) private_contexts_.insert(*residency.tag);
}

bool TagFilters::MayBePrivate(uint64_t slice, std::optional<uint64_t> context) const {
  return context ? private_contexts_.contains(*context) : private_slices_.contains(slice);
}

FilterCursor::FilterCursor(const TagFilters& filters) : filters_(filters), current_(filters.slices()) { AdvanceTo(0); }

bool FilterCursor::AdvanceTo(uint64_t cycle) {
  const size_t before = next_;
  for (; next() <= cycle && next_ < filters_.changes().size(); ++next_) {
    const TagFilters::Change& change = filters_.changes()[next_];
    current_[change.slice] = change.filter;
  }
  return next_ != before;
}

std::optional<uint32_t> FilterCursor::SliceOf(uint64_t slice, std::optional<uint64_t> context) const {
  if (slice >= current_.size() || !current_[slice].is_resident) return std::nullopt;
  if (context && current_[slice].context != context) return std::nullopt;
  return static_cast<uint32_t>(slice);
}

}  // namespace sideband::sim
