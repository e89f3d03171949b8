// SPDX-License-Identifier: Apache-2.0
#include "proto/exchange/record_sealer.h"

#include <algorithm>

#include "proto/base/status_macros.h"
#include "proto/envelope/seal.h"

namespace sideband::exchange {

bool RecordSealer::IsDue(absl::Duration now) const {
  return next_sequence_ >= std::min(rotation_.records, kRecordsPerKeyMax) || now - epoch_began_ >= rotation_.every;
}

absl::Status RecordSealer::Rotate(absl::Duration now) {
  if (!ratchet_.AdvanceTo(ratchet_.epoch() + 1).ok()) {
    return absl::ResourceExhaustedError("the exchange has no epochs left: the guest has to exchange keys again");
  }
  keys_.reset();
  next_sequence_ = 0;
  epoch_began_ = now;
  return absl::OkStatus();
}

absl::Status RecordSealer::EnsureKeys() {
  if (keys_) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(keys_, envelope::SessionKeys::Derive(ratchet_.secret(), {.suite = envelope::kSuiteHpke,
                                                                                     .epoch = ratchet_.epoch(),
                                                                                     .boot_id = scope_.boot_id,
                                                                                     .device = scope_.device,
                                                                                     .vm = scope_.vm,
                                                                                     .generation = scope_.generation,
                                                                                     .guest_nonce = scope_.nonce}));
  return absl::OkStatus();
}

absl::StatusOr<Bytes> RecordSealer::Seal(uint64_t reference_time_ns, ByteSpan content, absl::Duration now) {
  SIDEBAND_ASSIGN_OR_RETURN(const uint32_t needed, envelope::PaddedLengthFor(content.size(), envelope::kSuiteHpke));
  if (IsDue(now)) SIDEBAND_RETURN_IF_ERROR(Rotate(now));
  SIDEBAND_RETURN_IF_ERROR(EnsureKeys());
  padded_length_ = std::max(padded_length_, needed);
  const envelope::RecordHeader header{.suite = envelope::kSuiteHpke,
                                      .device = scope_.device,
                                      .boot_id = scope_.boot_id,
                                      .vm = scope_.vm,
                                      .generation = scope_.generation,
                                      .padded_length = padded_length_,
                                      .epoch = ratchet_.epoch(),
                                      // Incremented before use: a failure skips a sequence but never repeats one.
                                      .sequence = next_sequence_++,
                                      .reference_time_ns = reference_time_ns,
                                      .guest_nonce = scope_.nonce};
  ++records_;
  return envelope::SealRecord(*keys_, header, content);
}

}  // namespace sideband::exchange
