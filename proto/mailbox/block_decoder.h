// SPDX-License-Identifier: Apache-2.0
//
// Decodes the bits of a snapshot's blocks (README.md, "Snapshot").
//   return DecodeBlocks(payload.subspan(kSnapshotFixedBytes), blocks, base, std::move(head), Forms::kAsBefore);
#ifndef SIDEBAND_PROTO_MAILBOX_BLOCK_DECODER_H_
#define SIDEBAND_PROTO_MAILBOX_BLOCK_DECODER_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/counter_groups.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::mailbox {

// "snapshot: WHAT".
absl::Status MalformedSnapshot(absl::string_view what);

// `bits` comes from an untrusted peer. `head` is the snapshot without its blocks and counters, `blocks` is their
// number; the caller has checked the limits of both. INVALID_ARGUMENT describes malformed content, such as increments
// of a form that is not one of `forms`.
absl::StatusOr<Snapshot> DecodeBlocks(ByteSpan bits, size_t blocks, const Snapshot* base, Snapshot head, Forms forms);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_BLOCK_DECODER_H_
