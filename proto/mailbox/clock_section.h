// SPDX-License-Identifier: Apache-2.0
//
// The bits of a snapshot's clocks: differences from what both ends expect of them, from the base (README.md, "Clocks").
//   AppendSection(SnapshotSection::kClocks, EncodeClocks(snapshot, base), out);
//   SIDEBAND_RETURN_IF_ERROR(DecodeClocks(bits, base, snapshot));   // has its reference time
#ifndef SIDEBAND_PROTO_MAILBOX_CLOCK_SECTION_H_
#define SIDEBAND_PROTO_MAILBOX_CLOCK_SECTION_H_

#include "absl/status/status.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::mailbox {

// The snapshot must have 1 to kClockDomainsMax clocks.
Bytes EncodeClocks(const Snapshot& snapshot, const Snapshot* base);
// Fills the snapshot's `clocks`; `bits` come from an untrusted peer. Any values come back, also those of clocks that go
// back. DATA_LOSS: truncated, bits left over, or more than 2^32 changes.
absl::Status DecodeClocks(ByteSpan bits, const Snapshot* base, Snapshot& snapshot);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_CLOCK_SECTION_H_
