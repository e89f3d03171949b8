// SPDX-License-Identifier: Apache-2.0
//
// Opens the sealed records of one VM (format: proto/envelope/README.md), and gives their content as a snapshot of the
// API. Rejects records that are forged, modified, of another VM or device, repeated, or out of order.
//   SIDEBAND_ASSIGN_OR_RETURN(const envelope::GuestNonce nonce, DrawGuestNonce());
//   Opener opener(std::move(static_key), {.vm = vm, .nonce = nonce});   // and `nonce` goes into SubscribeSealed
//   const absl::StatusOr<OpenResult> opened = opener.Open(record);
#ifndef SIDEBAND_CLIENT_LIB_OPENER_H_
#define SIDEBAND_CLIENT_LIB_OPENER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/base/uuid.h"
#include "proto/envelope/keys.h"
#include "proto/envelope/record.h"
#include "proto/envelope/secret.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {

struct OpenResult {
  envelope::RecordHeader header;
  // Suite 1: a serialised sideband.v1.SealedContent. Suite 2: the result of envelope::EncodeCounts.
  SecretBytes content;
  // The number of records known to be missing before this one: the skipped sequence numbers. In a new epoch, the
  // skipped records of its beginning; further records of the old epoch are unknown. 0 for the first record.
  uint64_t gap = 0;
};

// 32 random bytes for one stream. INTERNAL if the system's random generator fails.
absl::StatusOr<envelope::GuestNonce> DrawGuestNonce();

// Thread-compatible.
//
// A record is old if it is not later, by (epoch, sequence), than the newest record accepted by this opener or by an
// earlier one (`after`). A record with the expected nonce was sealed after the nonce was drawn: the first such record
// is new regardless of its epoch, even if the sealer's clock was set back.
//
// Invariants: every accepted record is later, by (epoch, sequence), than all accepted before it. Within an epoch,
// device, boot ID, VM and generation are constant. A later epoch may change boot ID and generation, but under one boot
// ID a generation never decreases. A rejected record changes no state. Work and memory for a record are bounded by its
// size.
class Opener {
 public:
  // The required properties of a record. An absent property is set permanently by the first record that opens.
  struct Expected {
    std::optional<Uuid> vm;
    std::optional<Uuid> device;
    uint16_t scope = envelope::kScopeWholeVm;
    // Only records of version 2 with this nonce are accepted. Absent: records of any version and nonce.
    std::optional<envelope::GuestNonce> nonce;
    // The newest record accepted by an earlier opener of this VM and device (replay_state.h).
    std::optional<envelope::RecordHeader> after;
  };

  // Opens records of suite 1.
  Opener(envelope::Secret static_key, Expected expected) : static_key_(std::move(static_key)), expected_(expected) {}
  // Opens records of suite 2: those of the exchange that the ratchet is of, and whose nonce has to be expected. Secrets
  // of epochs before the newest accepted record are wiped.
  Opener(envelope::Ratchet exchanged, Expected expected) : ratchet_(std::move(exchanged)), expected_(expected) {}

  // DATA_LOSS "record rejected" for every record that is not acceptable, for any reason.
  absl::StatusOr<OpenResult> Open(ByteSpan record);

 private:
  // Checks the header alone: whether its record may come next.
  bool IsNext(const envelope::RecordHeader& header) const;
  absl::StatusOr<OpenResult> TryOpen(ByteSpan record);
  // The secret from which the keys of that scope are derived, as a ratchet that stands there.
  absl::StatusOr<envelope::Ratchet> RatchetAt(const envelope::KeyScope& scope) const;
  uint64_t GapBefore(const envelope::RecordHeader& header) const;
  void Accept(const envelope::RecordHeader& header);

  // One of them.
  envelope::Secret static_key_;
  std::optional<envelope::Ratchet> ratchet_;
  Expected expected_;
  // Header and keys of the newest accepted record.
  std::optional<envelope::RecordHeader> last_;
  std::optional<envelope::SessionKeys> keys_;
};

// The content of a record of suite 2. `events` are those of the exchange's statement. The VM is named by its UUID, and
// the device not at all: records do not have the names. DATA_LOSS: content that is not counts, or of another number of
// events.
absl::StatusOr<sideband::v1::SealedContent> SealedContentOf(const OpenResult& opened,
                                                            const std::vector<std::string>& events);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_OPENER_H_
