// SPDX-License-Identifier: Apache-2.0
//
// A snapshot as a stream: only the changes since a snapshot that the controller has acknowledged, in variable-width
// fields. README.md has the format and an example.
//   const VmIds whole = VmsWrittenWhole(catalog);
//   const Bytes stream = EncodeSnapshotStream(snapshot, base.get(), whole);
//   SIDEBAND_ASSIGN_OR_RETURN(const Snapshot decoded, DecodeSnapshotStream(stream, base.get()));
//   base = std::make_unique<Snapshot>(AsBase(decoded, whole));   // both ends, once it is acknowledged
#ifndef SIDEBAND_PROTO_MAILBOX_SNAPSHOT_STREAM_H_
#define SIDEBAND_PROTO_MAILBOX_SNAPSHOT_STREAM_H_

#include <cstdint>
#include <optional>
#include <set>

#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/snapshot.h"
#include "proto/mailbox/stream.h"

namespace sideband::mailbox {

// IDs of the VMs whose blocks are always written whole, since their size in a stream must not depend on their counts:
// those of confidential VMs, and the hypervisor's, thus the device's block, beside one that is not private.
using VmIds = std::set<uint16_t>;
VmIds VmsWrittenWhole(const Catalog& catalog);

// Size of a snapshot's payload before its bits.
inline constexpr size_t kSnapshotFixedBytes = 4 + 4 + 8 + 2 + 2;

// Returns a whole stream, frame included. With a base, which must be of the same boot, an unchanged block costs one
// bit; without a base, everything is written. Blocks of the VMs in `whole` are always written whole, in a fixed width.
// `framing` is kDelta for version 1, kSections for version 2. The latter has the statistics, if there are any, in
// snapshots without a base and in those whose ID is a multiple of kStatisticsInterval.
Bytes EncodeSnapshotStream(const Snapshot& snapshot, const Snapshot* base, const VmIds& whole,
                           Framing framing = Framing::kDelta);
inline constexpr uint32_t kStatisticsInterval = 16;

// `stream` comes from an untrusted peer; `base` is the snapshot that the controller last acknowledged, or null.
// DATA_LOSS if the frame is damaged (DecodeStream) or the stream is relative to a snapshot other than `base`.
// INVALID_ARGUMENT for malformed content: wrong kind, truncated, bits left over, more than kBlocksMax blocks, more than
// kEventsMax counters in each or kCountersMax in total, unknown state or flag, several blocks of one scope, malformed
// sections (sections.h), and malformed rotation numbers (as many at most as counters, rotation_section.h). The flag
// kFlagRotationInconsistent is known in framing kSections only. DATA_LOSS for malformed clocks,
// bookmarks and sealed records (sections.h).
// A stream of another framing than `framing`, if that is given, is malformed, too.
absl::StatusOr<Snapshot> DecodeSnapshotStream(ByteSpan stream, const Snapshot* base,
                                              std::optional<Framing> framing = std::nullopt);

// The part of a snapshot that both ends keep as the base of the next: everything except the counters and rotation
// numbers of blocks that are always written whole, those of bookmarks, and sealed records but for their first bytes,
// which are not needed.
Snapshot AsBase(Snapshot snapshot, const VmIds& whole);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_SNAPSHOT_STREAM_H_
