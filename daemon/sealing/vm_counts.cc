// SPDX-License-Identifier: Apache-2.0
#include "daemon/sealing/vm_counts.h"

#include <optional>
#include <vector>

#include "daemon/message/scope_message.h"
#include "daemon/message/time_message.h"
#include "daemon/snapshot/rotation.h"
#include "proto/exchange/vm_content.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {
namespace {

using envelope::CountsEstimate;
using envelope::SealedCounts;

// Where an event of a row is: in the snapshot, and in the content.
struct Place {
  size_t block = 0;
  size_t event = 0;  // of the catalogue
  size_t count = 0;  // in SealedCounts::counts
};

CountsEstimate Fixed(const Estimate& estimate, uint64_t hertz) {
  static_assert(CountsEstimate::kUnknown == mailbox::kUnknownNumber);
  return {.standard_error = estimate.deviation,
          .lower = estimate.lower,
          .upper = estimate.upper,
          .time_enabled_ns = NanosecondsOf(estimate.time.enabled, hertz),
          .time_running_ns = NanosecondsOf(estimate.time.running, hertz),
          .method = static_cast<uint8_t>(estimate.method == EstimateMethod::kRandomTurns
                                             ? sideband::v1::Estimate::METHOD_RANDOM_TURNS
                                             : sideband::v1::Estimate::METHOD_MODEL)};
}

class OwnersCounts {
 public:
  OwnersCounts(const Topology& topology, const mailbox::Snapshot& raw, uint16_t vm)
      : topology_(topology),
        raw_(raw),
        blocks_(exchange::VmBlocks(raw, vm)),
        events_(exchange::VmEvents(topology.catalog())),
        counts_(exchange::VmCounts(topology.catalog(), raw, vm)) {}

  SealedCounts Take() && {
    for (size_t row = 0; row < blocks_.size(); ++row) {
      counts_.rows[row].flags = FlagsForOwner(topology_, raw_, blocks_[row]);
    }
    if (!HasCoverage()) return std::move(counts_);
    counts_.coverage.resize(counts_.counts.size());
    ForEach([this](const Place& at) { Cover(at); });
    for (size_t i = 0; i < events_.size(); ++i) {
      if (IsRotated(events_[i])) counts_.rotated.push_back(static_cast<uint16_t>(i));
    }
    ForEach([this](const Place& at) { AddEstimate(at); });
    return std::move(counts_);
  }

 private:
  bool IsRotated(size_t event) const { return !raw_.rotation.empty() && topology_.rotation().IsRotated(event); }
  bool HasCoverage() const {
    return topology_.coverage().has_gates() || (!raw_.rotation.empty() && topology_.rotation().has_rotated_events());
  }

  template <typename Do>
  void ForEach(Do action) {
    size_t count = 0;
    for (const size_t block : blocks_) {
      for (const size_t event : events_) {
        if (event < raw_.counters_per_block) action(Place{block, event, count});
        ++count;
      }
    }
  }

  void Cover(const Place& at) {
    counts_.coverage[at.count] = topology_.coverage().OfCount(at.event, raw_.Counters(at.block)) *
                                 topology_.rotation().CoverageOf(raw_, at.block, at.event);
    counts_.counts[at.count] = topology_.rotation().Shown(raw_, at.block, at.event);
  }

  void AddEstimate(const Place& at) {
    if (!IsRotated(at.event)) return;
    const std::optional<Estimate> estimate = topology_.rotation().Of(raw_, at.block, at.event);
    const uint64_t hertz = topology_.catalog().reference_clock_hz;
    counts_.estimates.push_back(estimate ? Fixed(*estimate, hertz) : CountsEstimate{});
  }

  const Topology& topology_;
  const mailbox::Snapshot& raw_;
  const std::vector<size_t> blocks_;
  const std::vector<size_t> events_;
  SealedCounts counts_;
};

}  // namespace

SealedCounts CountsForOwner(const Topology& topology, const mailbox::Snapshot& raw, uint16_t vm, absl::Time host_time) {
  SealedCounts counts = OwnersCounts(topology, raw, vm).Take();
  counts.host_time_ns = static_cast<uint64_t>(absl::ToUnixNanos(host_time));
  return counts;
}

}  // namespace sideband::daemon
