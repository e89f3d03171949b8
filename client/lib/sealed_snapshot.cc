// SPDX-License-Identifier: Apache-2.0
#include "client/lib/sealed_snapshot.h"

#include <algorithm>
#include <optional>

#include "proto/base/status_macros.h"
#include "proto/envelope/counts.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::client {
namespace {

using envelope::CountsEstimate;
using envelope::CountsRow;
using envelope::SealedCounts;

constexpr uint8_t kNoSlice = 0xFF;

void FillScope(const envelope::RecordHeader& header, const CountsRow& row, sideband::v1::ScopeCounters& out) {
  sideband::v1::Scope& scope = *out.mutable_scope();
  scope.set_vm(header.vm.ToString());
  scope.set_vm_uuid(header.vm.ToString());
  scope.set_context(row.name);
  scope.set_generation(row.generation);
  scope.set_confidential(true);
  if (row.slice != kNoSlice) scope.set_slice(row.slice);
  // The API's states begin with an unspecified one.
  const int state = row.state + 1;
  if (sideband::v1::ScopeCounters::State_IsValid(state)) {
    out.set_state(static_cast<sideband::v1::ScopeCounters::State>(state));
  }
  for (const std::string& flag : mailbox::FlagNames(row.flags)) out.add_flags(flag);
}

void FillEstimate(const CountsEstimate& from, sideband::v1::Estimate& out) {
  if (from.standard_error != CountsEstimate::kUnknown) out.set_standard_error(from.standard_error);
  out.set_lower(from.lower);
  if (from.upper != CountsEstimate::kUnknown) out.set_upper(from.upper);
  out.set_time_enabled_ns(from.time_enabled_ns);
  out.set_time_running_ns(from.time_running_ns);
  out.set_method(static_cast<sideband::v1::Estimate::Method>(from.method));
}

// nullptr: the event is counted all the time.
const CountsEstimate* EstimateOf(const SealedCounts& counts, size_t row, size_t event) {
  const auto found = std::ranges::lower_bound(counts.rotated, event);
  if (found == counts.rotated.end() || *found != event) return nullptr;
  const CountsEstimate& estimate = counts.Estimates(row)[static_cast<size_t>(found - counts.rotated.begin())];
  return estimate.method == 0 ? nullptr : &estimate;
}

void FillCounters(const SealedCounts& counts, size_t row, const std::vector<std::string>& events,
                  sideband::v1::ScopeCounters& out) {
  for (size_t event = 0; event < events.size(); ++event) {
    const double coverage = counts.coverage.empty() ? 1 : counts.Coverage(row)[event];
    if (coverage == 0) continue;  // counted in no cycle: there is no number
    sideband::v1::Counter& counter = *out.add_counters();
    counter.set_event(events[event]);
    counter.set_count(counts.Counts(row)[event]);
    if (coverage != 1) counter.set_coverage(coverage);
    if (const CountsEstimate* const estimate = EstimateOf(counts, row, event)) {
      FillEstimate(*estimate, *counter.mutable_estimate());
    }
  }
}

}  // namespace

absl::StatusOr<sideband::v1::SealedContent> SealedContentOf(const OpenResult& opened,
                                                            const std::vector<std::string>& events) {
  const absl::StatusOr<SealedCounts> counts = envelope::DecodeCounts(opened.content);
  if (!counts.ok() || counts->events != events.size()) {
    return absl::DataLossError("the record's content is not telemetry that this program knows");
  }
  sideband::v1::SealedContent content;
  sideband::v1::Snapshot& snapshot = *content.mutable_snapshot();
  snapshot.set_boot_id(opened.header.boot_id);
  snapshot.set_snapshot_id(counts->snapshot_id);
  snapshot.set_trigger_id(counts->trigger_id);
  snapshot.set_reference_time_ns(opened.header.reference_time_ns);
  if (counts->host_time_ns != 0) {
    snapshot.mutable_host_time()->set_seconds(static_cast<int64_t>(counts->host_time_ns / 1'000'000'000));
    snapshot.mutable_host_time()->set_nanos(static_cast<int32_t>(counts->host_time_ns % 1'000'000'000));
  }
  for (size_t row = 0; row < counts->rows.size(); ++row) {
    sideband::v1::ScopeCounters& scope = *snapshot.add_scopes();
    FillScope(opened.header, counts->rows[row], scope);
    FillCounters(*counts, row, events, scope);
  }
  return content;
}

}  // namespace sideband::client
