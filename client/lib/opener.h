// SPDX-License-Identifier: Apache-2.0
//
// Opens the sealed records of one VM (proto/envelope/README.md has their form) and lets none pass that is forged,
// changed, of another VM or device, repeated, or out of order.
//   Opener opener(std::move(static_key), {.vm = vm});
//   const absl::StatusOr<OpenResult> opened = opener.Open(record);
#ifndef SIDEBAND_CLIENT_LIB_OPENER_H_
#define SIDEBAND_CLIENT_LIB_OPENER_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/base/uuid.h"
#include "proto/envelope/keys.h"
#include "proto/envelope/record.h"
#include "proto/envelope/secret.h"

namespace sideband::client {

struct OpenResult {
  envelope::RecordHeader header;
  // A serialised sideband.v1.SealedContent; the caller wipes it after use (envelope::ScopedWipe).
  Bytes content;
  // How many records are known to be missing since the one before: those that the sequence skips. In a new epoch, what
  // was skipped of its beginning; what the old one still sent is not known. 0 for the first record.
  uint64_t gap = 0;
};

// Thread-compatible.
//
// Invariants: every accepted record is later than every one before, by (epoch, sequence). Within an epoch, device, boot
// id, VM and generation stay; a later epoch may change boot id and generation, but a generation never goes back under
// one boot id. A rejected record changes nothing, however it was made; the work and memory for one are bounded by its
// size.
class Opener {
 public:
  // What a record must be of. Where there is nothing, the first record that the key opens says it, for good.
  struct Expected {
    std::optional<Uuid> vm;
    std::optional<Uuid> device;
    uint16_t scope = envelope::kScopeWholeVm;
  };

  Opener(envelope::Secret static_key, Expected expected) : static_key_(std::move(static_key)), expected_(expected) {}

  // DATA_LOSS "record rejected" for every record that is not acceptable, whatever the reason.
  absl::StatusOr<OpenResult> Open(ByteSpan record);

 private:
  // What the header alone says: whether a record with it may come next.
  bool IsNext(const envelope::RecordHeader& header) const;
  absl::StatusOr<OpenResult> TryOpen(ByteSpan record);
  uint64_t GapBefore(const envelope::RecordHeader& header) const;
  void Accept(const envelope::RecordHeader& header);

  const envelope::Secret static_key_;
  Expected expected_;
  // Of the newest accepted record.
  std::optional<envelope::RecordHeader> last_;
  std::optional<envelope::SessionKeys> keys_;
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_OPENER_H_
