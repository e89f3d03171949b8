// SPDX-License-Identifier: Apache-2.0
//
// The stream of TIMELINE: packets of triggers as second differences (README.md, "Timeline").
//   const Bytes stream = EncodeTimelineStream(timeline);
//   SIDEBAND_ASSIGN_OR_RETURN(const Timeline decoded, DecodeTimelineStream(stream, first,
//   catalog.clock_domains.size()));
#ifndef SIDEBAND_PROTO_MAILBOX_TIMELINE_STREAM_H_
#define SIDEBAND_PROTO_MAILBOX_TIMELINE_STREAM_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/clocks.h"

namespace sideband::mailbox {

// Returns a whole stream, frame included. The timeline has at most kTimelineEntriesMax entries; each has a clock for
// each bit of its domains, and arrival stamps of 0 for those that do not stop.
Bytes EncodeTimelineStream(const Timeline& timeline);

// `stream` comes from an untrusted peer, of a device with that many domains. Any numbers come back, also those of
// clocks that go back. DATA_LOSS if the frame is damaged, for another kind of stream, too many entries, truncated
// input, bits left over, a domain that does not exist, a number beyond its width and an unknown kind. ABORTED if the
// stream begins at another trigger.
absl::StatusOr<Timeline> DecodeTimelineStream(ByteSpan stream, uint32_t first_trigger_id, size_t domains);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_TIMELINE_STREAM_H_
