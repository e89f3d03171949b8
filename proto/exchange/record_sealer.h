// SPDX-License-Identifier: Apache-2.0
//
// Seals the records of one VM for one exchange (proto/envelope/README.md), and changes the key by time and count.
//   RecordSealer sealer({device, boot_id, vm, generation, nonce}, std::move(secret), rotation, now);
//   SIDEBAND_ASSIGN_OR_RETURN(const Bytes record, sealer.Seal(reference_time_ns, content, now));
#ifndef SIDEBAND_PROTO_EXCHANGE_RECORD_SEALER_H_
#define SIDEBAND_PROTO_EXCHANGE_RECORD_SEALER_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/base/bytes.h"
#include "proto/base/uuid.h"
#include "proto/envelope/keys.h"
#include "proto/envelope/ratchet.h"
#include "proto/envelope/record.h"
#include "proto/envelope/secret.h"

namespace sideband::exchange {

// The records that one key may seal. NIST SP 800-38D sets the limit for random nonces; these are counted, and the limit
// is kept anyway.
inline constexpr uint64_t kRecordsPerKeyMax = uint64_t{1} << 32;

// When a VM's key is replaced by its next.
struct KeyRotation {
  absl::Duration every = absl::Hours(1);
  uint64_t records = uint64_t{1} << 20;     // at most kRecordsPerKeyMax
  absl::Duration grace = absl::Minutes(1);  // in which an exchange's records go on beside those of the next exchange
  bool operator==(const KeyRotation&) const = default;
};

// Invariant: (key, nonce) never repeats. The secret is of one exchange, whose ephemeral key was drawn for it alone; its
// epochs only go forward; within an epoch the sequence only increases, also after a failure. Nothing of it is stored,
// so a restart needs another exchange. Not thread-safe; `now` is any clock that does not go back.
class RecordSealer {
 public:
  struct Scope {
    Uuid device;
    uint64_t boot_id = 0;
    Uuid vm;
    uint32_t generation = 0;
    envelope::GuestNonce nonce{};
  };
  RecordSealer(const Scope& scope, envelope::Secret secret, const KeyRotation& rotation, absl::Duration now)
      : scope_(scope), ratchet_(std::move(secret)), rotation_(rotation), epoch_began_(now) {}

  const envelope::GuestNonce& nonce() const { return scope_.nonce; }
  uint64_t epoch() const { return ratchet_.epoch(); }
  uint64_t records() const { return records_; }
  double budget_used() const { return static_cast<double>(next_sequence_) / static_cast<double>(kRecordsPerKeyMax); }

  // One record with the next sequence, under the next epoch where that is due. Records never get shorter. OUT_OF_RANGE
  // for content above envelope::kContentBytesMax; RESOURCE_EXHAUSTED if no epochs are left.
  absl::StatusOr<Bytes> Seal(uint64_t reference_time_ns, ByteSpan content, absl::Duration now);
  // RESOURCE_EXHAUSTED if no epochs are left.
  absl::Status Rotate(absl::Duration now);

 private:
  bool IsDue(absl::Duration now) const;
  absl::Status EnsureKeys();

  const Scope scope_;
  envelope::Ratchet ratchet_;
  const KeyRotation rotation_;
  absl::Duration epoch_began_;
  std::optional<envelope::SessionKeys> keys_;  // of the epoch; none before its first record
  uint64_t next_sequence_ = 0;
  uint64_t records_ = 0;
  uint32_t padded_length_ = 0;
};

}  // namespace sideband::exchange

#endif  // SIDEBAND_PROTO_EXCHANGE_RECORD_SEALER_H_
