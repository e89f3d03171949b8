// SPDX-License-Identifier: Apache-2.0
//
// The bits of a snapshot's rotation numbers: differences from predictions that both ends make from the base, the
// counters, and the blocks before (README.md, "Rotation").
//   out.Raw(EncodeRotation(snapshot, base, whole));
//   SIDEBAND_RETURN_IF_ERROR(DecodeRotation(bits, base, snapshot));   // has its blocks and counters
#ifndef SIDEBAND_PROTO_MAILBOX_ROTATION_SECTION_H_
#define SIDEBAND_PROTO_MAILBOX_ROTATION_SECTION_H_

#include <cstdint>
#include <set>

#include "absl/status/status.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::mailbox {

// Numbers of the VMs in `whole` are written whole, and are no part of another block's predictions. The snapshot must be
// valid: one entry of `rotation` for each block, as DecodeRotation gives it.
Bytes EncodeRotation(const Snapshot& snapshot, const Snapshot* base, const std::set<uint16_t>& whole);

// Fills the snapshot's `layout` and `rotation`; `bits` come from an untrusted peer. INVALID_ARGUMENT: truncated, bits
// left over, events or plans that do not ascend, an event or group beyond the limits, a part without cycles or with too
// many sets, parts that do not ascend, events without or beyond those of the layout, more than kCountersMax numbers,
// and an impossible form.
absl::Status DecodeRotation(ByteSpan bits, const Snapshot* base, Snapshot& snapshot);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_ROTATION_SECTION_H_
