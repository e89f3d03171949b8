// SPDX-License-Identifier: Apache-2.0
//
// The bits of a snapshot's blocks, read again: README.md, "Snapshot".
//   return DecodeBlocks(payload.subspan(kSnapshotFixedBytes), blocks, base, std::move(head));
#ifndef SIDEBAND_PROTO_MAILBOX_BLOCK_DECODER_H_
#define SIDEBAND_PROTO_MAILBOX_BLOCK_DECODER_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::mailbox {

// Of a peer. `head` is the snapshot without its blocks and counters, `blocks` how many it has; both are within their
// limits. INVALID_ARGUMENT says what makes no sense.
absl::StatusOr<Snapshot> DecodeBlocks(ByteSpan bits, size_t blocks, const Snapshot* base, Snapshot head);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_BLOCK_DECODER_H_
