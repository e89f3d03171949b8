// SPDX-License-Identifier: Apache-2.0
//
// The newest pulse on a device's trigger line in a snapshot, sent once (README.md, "Trigger line").
//   const Bytes pulse = EncodeLinePulse(snapshot, base);
//   if (!pulse.empty()) AppendSection(SnapshotSection::kTriggerLine, pulse, out);
//   SIDEBAND_RETURN_IF_ERROR(DecodeLinePulse(payload, base, snapshot));   // nullptr: there is no such section
#ifndef SIDEBAND_PROTO_MAILBOX_LINE_SECTION_H_
#define SIDEBAND_PROTO_MAILBOX_LINE_SECTION_H_

#include "absl/status/status.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::mailbox {

// Empty without a pulse since the base. A device whose base has one has one, too.
Bytes EncodeLinePulse(const Snapshot& snapshot, const Snapshot* base);
// Fills the snapshot's `line_pulse`, from the base where there is no payload; it comes from an untrusted peer.
// INVALID_ARGUMENT: a wrong length, or a value that no pulse has.
absl::Status DecodeLinePulse(const ByteSpan* payload, const Snapshot* base, Snapshot& snapshot);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_LINE_SECTION_H_
