// SPDX-License-Identifier: Apache-2.0
#include "client/lib/opener.h"

#include <openssl/rand.h>

#include "proto/base/status_macros.h"
#include "proto/envelope/open.h"

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

}  // namespace sideband::client
