// SPDX-License-Identifier: Apache-2.0
//
// The filters of a unit that slices share. Its requests carry a tag, of a slice and of a context; the unit's counters
// of a slice count the requests of that slice's resident alone. Their filter is loaded when the resident is switched
// in.
//   SIDEBAND_ASSIGN_OR_RETURN(const TagFilters filters, TagFilters::Create(map, schedule, "C.csv", /*slices=*/2));
//   FilterCursor cursor(filters);
//   cursor.AdvanceTo(900);
//   cursor.SliceOf(/*slice=*/1, /*context=*/7);    // 1, if the residency of slice 1 in cycle 900 has the tag 7
#ifndef SIDEBAND_SIM_WAVEFORM_TAG_FILTERS_H_
#define SIDEBAND_SIM_WAVEFORM_TAG_FILTERS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/waveform/schedule.h"
#include "sim/waveform/signal_map.h"

namespace sideband::sim {

// The resident of a slice, as tags name it.
struct TagFilter {
  bool is_resident = false;
  std::optional<uint64_t> context;  // absent: the resident has no tag of its own
};

// The filters of all slices over the cycles of the reference clock. Immutable.
class TagFilters {
 public:
  struct Change {
    uint64_t cycle;  // from this one on
    uint32_t slice;
    TagFilter filter;
  };

  // No slice: every request is unattributed.
  TagFilters() = default;
  // INVALID_ARGUMENT "FILE:LINE: description" for a residency of a VM without a tag if an event of the map goes by
  // contexts, at its line of the schedule. All slices of the schedule are below `slices`. The VMs of `private_vms` are
  // never in the counts of others.
  static absl::StatusOr<TagFilters> Create(const SignalMap& map, const std::vector<Residency>& schedule,
                                           const std::string& schedule_path, uint32_t slices,
                                           const std::set<std::string>& private_vms = {});

  uint32_t slices() const { return slices_; }
  // Ascending; of two of a slice at one cycle the latter holds.
  const std::vector<Change>& changes() const { return changes_; }
  // Whether a request that no filter lets pass may be a private VM's: on any slice if its context has the number of one
  // of the VM's, so that a wrong slice discloses nothing; without `context` if the VM is ever resident on the slice.
  bool MayBePrivate(uint64_t slice, std::optional<uint64_t> context) const;

 private:
  void MarkPrivate(const Residency& residency);

  uint32_t slices_ = 0;
  std::vector<Change> changes_;
  // Contexts and slices of private VMs.
  std::set<uint64_t> private_contexts_;
  std::set<uint64_t> private_slices_;
};

// The filters in force in one cycle, from cycle 0 on; `filters` must outlive it. Not thread-safe.
class FilterCursor {
 public:
  explicit FilterCursor(const TagFilters& filters);

  // Cycles are ascending. Returns whether a filter was loaded.
  bool AdvanceTo(uint64_t cycle);
  // The next cycle in which one is; the largest number if there is none.
  uint64_t next() const {
    return next_ < filters_.changes().size() ? filters_.changes()[next_].cycle : std::numeric_limits<uint64_t>::max();
  }

  // The slice whose filter lets a request of this tag pass; nullopt: none. Without `context` the tag names a slice
  // only, and its resident is the requester.
  std::optional<uint32_t> SliceOf(uint64_t slice, std::optional<uint64_t> context) const;
  // Whether no filter lets it pass, and it may be a private VM's: it is counted nowhere.
  bool IsHidden(uint64_t slice, std::optional<uint64_t> context) const {
    return !SliceOf(slice, context) && filters_.MayBePrivate(slice, context);
  }

 private:
  const TagFilters& filters_;
  std::vector<TagFilter> current_;  // per slice
  size_t next_ = 0;                 // into the changes
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_TAG_FILTERS_H_
