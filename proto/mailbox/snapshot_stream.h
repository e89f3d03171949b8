// SPDX-License-Identifier: Apache-2.0
//
// A snapshot on the bus: only what has changed since a snapshot that the controller has acknowledged, in few bits. The
// format, with an example byte by byte, is in README.md.
//   const Bytes stream = EncodeSnapshotStream(snapshot, base.get(), ConfidentialVms(catalog));
//   SIDEBAND_ASSIGN_OR_RETURN(Snapshot snapshot, DecodeSnapshotStream(stream, base.get()));
//   base = AsBase(snapshot, ConfidentialVms(catalog));     // both ends, once it is acknowledged
#ifndef SIDEBAND_PROTO_MAILBOX_SNAPSHOT_STREAM_H_
#define SIDEBAND_PROTO_MAILBOX_SNAPSHOT_STREAM_H_

#include <cstdint>
#include <set>

#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::mailbox {

// Ids of the VMs whose blocks must cost the same whatever they hold. Where there is one the device's block must, too.
using VmIds = std::set<uint16_t>;
VmIds ConfidentialVms(const Catalog& catalog);

// Counters in a snapshot. A stream that says more is refused: it could be small and ask for much memory.
inline constexpr size_t kCountersMax = size_t{1} << 23;

// Of a snapshot's payload, before the bits.
inline constexpr size_t kSnapshotFixedBytes = 4 + 4 + 8 + 2 + 2;

// A whole stream, frame included. With a base, which must be of the same boot, what equals it costs at most a bit a
// block; without, everything is written. Blocks of `confidential` VMs are always written whole, in a fixed width.
Bytes EncodeSnapshotStream(const Snapshot& snapshot, const Snapshot* base, const VmIds& confidential);

// From a peer; `base` is what the controller last acknowledged, if anything. DATA_LOSS where the frame is damaged
// (DecodeStream) or where the stream is relative to another snapshot than `base`; INVALID_ARGUMENT where its content
// makes no sense: wrong kind, truncated, bits left over, more than kBlocksMax blocks, kEventsMax counters in each or
// kCountersMax in all, unknown state or flag, several blocks of one scope.
absl::StatusOr<Snapshot> DecodeSnapshotStream(ByteSpan stream, const Snapshot* base);

// What both ends keep of a snapshot to relate the next one to it: all but the counters of blocks that are written
// whole, which nobody needs to remember.
Snapshot AsBase(Snapshot snapshot, const VmIds& confidential);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_SNAPSHOT_STREAM_H_
