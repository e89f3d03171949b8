// SPDX-License-Identifier: Apache-2.0
//
// The bits of a snapshot's bookmarks: of each, what has been counted since (README.md, "Bookmarks").
//   const Bytes bits = EncodeBookmarks(snapshot, base, whole);
//   if (!bits.empty()) AppendSection(SnapshotSection::kBookmarks, bits, out);
//   SIDEBAND_RETURN_IF_ERROR(DecodeBookmarks(bits, snapshot));   // has its blocks and counters
#ifndef SIDEBAND_PROTO_MAILBOX_BOOKMARK_SECTION_H_
#define SIDEBAND_PROTO_MAILBOX_BOOKMARK_SECTION_H_

#include <cstdint>
#include <set>

#include "absl/status/status.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::mailbox {

// The snapshot's bookmarks that are not in the base, except those of VMs in `whole`; empty without any. They must
// ascend by number, and be served after they were asked for and at the snapshot's time at the latest.
Bytes EncodeBookmarks(const Snapshot& snapshot, const Snapshot* base, const std::set<uint16_t>& whole);
// Fills the snapshot's `bookmarks`; `bits` come from an untrusted peer. DATA_LOSS: truncated, bits left over, none, an
// unknown block, numbers that do not ascend, times that do not, more counts than kCountersMax.
absl::Status DecodeBookmarks(ByteSpan bits, Snapshot& snapshot);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_BOOKMARK_SECTION_H_
