// SPDX-License-Identifier: Apache-2.0
//
// The stream of HULLS: of each clock domain, the vertices of the lines that its clock may be (README.md, "Hulls").
//   const Bytes stream = EncodeHullStream(hulls);
//   SIDEBAND_ASSIGN_OR_RETURN(const ClockHulls decoded, DecodeHullStream(stream, first, catalog.clock_domains.size()));
#ifndef SIDEBAND_PROTO_MAILBOX_HULL_STREAM_H_
#define SIDEBAND_PROTO_MAILBOX_HULL_STREAM_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/clocks.h"

namespace sideband::mailbox {

// Returns a whole stream, frame included. The hulls must be those that can be decoded.
Bytes EncodeHullStream(const ClockHulls& hulls);

// `stream` comes from an untrusted peer, of a device with that many domains. Any instants come back. DATA_LOSS if the
// frame is damaged, for another kind of stream, truncated input, bits left over, domains that do not ascend or exist, a
// hull of no or more than kHullVerticesMax vertices, and edges that do not ascend or are before the segment's start.
// ABORTED if the stream begins at another trigger.
absl::StatusOr<ClockHulls> DecodeHullStream(ByteSpan stream, uint32_t first_trigger_id, size_t domains);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_HULL_STREAM_H_
