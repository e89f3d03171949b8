// SPDX-License-Identifier: Apache-2.0
#include "client/lib/opener.h"

#include <openssl/rand.h>

#include <algorithm>
#include <optional>

#include "proto/base/status_macros.h"
#include "proto/envelope/open.h"
#include "proto/envelope/record.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::client {
namespace {

using envelope::KeyScope;
using envelope::RecordHeader;
using envelope::SessionKeys;

// Bounds the work for a forged epoch: one HKDF step each.
constexpr uint64_t kEpochsAheadMax = 4096;

absl::Status Rejected() { return absl::DataLossError("record rejected"); }

// Whether `next` may follow `last`. Both must be of the same VM, device and scope.
bool Follows(const RecordHeader& last, const RecordHeader& next) {
  if (next.epoch < last.epoch) return false;
  // A new boot id or generation begins a new epoch, so within one neither may change.
  if (next.epoch == last.epoch) return KeyScope::Of(next) == KeyScope::Of(last) && next.sequence > last.sequence;
  // Within one boot a generation never decreases.
  return next.boot_id != last.boot_id || next.generation >= last.generation;
}

}  // namespace

absl::StatusOr<envelope::GuestNonce> DrawGuestNonce() {
  envelope::GuestNonce nonce;
  if (RAND_bytes(nonce.data(), nonce.size()) != 1) return absl::InternalError("the system returned no random bytes");
  return nonce;
}

bool Opener::IsNext(const RecordHeader& header) const {
  if (header.scope != expected_.scope || header.vm != expected_.vm.value_or(header.vm) ||
      header.device != expected_.device.value_or(header.device)) {
    return false;
  }
  if (expected_.nonce.has_value() && header.guest_nonce != expected_.nonce) return false;
  if (last_.has_value()) return Follows(*last_, header);
  // A record with the expected nonce is new regardless of its epoch, so `after` applies to openers without a nonce
  // only.
  return expected_.nonce.has_value() || !expected_.after.has_value() || Follows(*expected_.after, header);
}

uint64_t Opener::GapBefore(const RecordHeader& header) const {
  if (!last_.has_value()) return 0;
  // A new epoch starts at sequence 0.
  return header.epoch == last_->epoch ? header.sequence - last_->sequence - 1 : header.sequence;
}

void Opener::Accept(const RecordHeader& header) {
  last_ = header;
  expected_.vm = header.vm;
  expected_.device = header.device;
}

absl::StatusOr<envelope::Ratchet> Opener::RatchetAt(const KeyScope& scope) const {
  const uint8_t suite = ratchet_ ? envelope::kSuiteHpke : envelope::kSuiteStatic;
  if (scope.suite != suite) return Rejected();
  if (!ratchet_) return envelope::Ratchet(static_key_.Clone());
  if (scope.epoch < ratchet_->epoch() || scope.epoch - ratchet_->epoch() > kEpochsAheadMax) return Rejected();
  envelope::Ratchet there = ratchet_->Clone();
  SIDEBAND_RETURN_IF_ERROR(there.AdvanceTo(scope.epoch));
  return there;
}

absl::StatusOr<OpenResult> Opener::TryOpen(ByteSpan record) {
  SIDEBAND_ASSIGN_OR_RETURN(const envelope::RecordView view, envelope::ParseRecord(record));
  if (!IsNext(view.header)) return Rejected();
  const KeyScope scope = KeyScope::Of(view.header);
  // Keys of another scope replace the current keys only after they have opened a record.
  std::optional<SessionKeys> derived;
  std::optional<envelope::Ratchet> there;
  if (!keys_.has_value() || keys_->scope() != scope) {
    SIDEBAND_ASSIGN_OR_RETURN(there, RatchetAt(scope));
    SIDEBAND_ASSIGN_OR_RETURN(derived, SessionKeys::Derive(there->secret(), scope));
  }
  SIDEBAND_ASSIGN_OR_RETURN(SecretBytes content, envelope::OpenRecord(derived.has_value() ? *derived : *keys_, view));
  OpenResult result{.header = view.header, .content = std::move(content), .gap = GapBefore(view.header)};
  if (derived.has_value()) keys_ = std::move(derived);
  if (there.has_value() && ratchet_.has_value()) ratchet_ = std::move(there);
  Accept(view.header);
  return result;
}

absl::StatusOr<OpenResult> Opener::Open(ByteSpan record) {
  absl::StatusOr<OpenResult> opened = TryOpen(record);
  // All rejections look the same, so that a sender cannot learn which check failed.
  if (!opened.ok()) return Rejected();
  return opened;
}

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
