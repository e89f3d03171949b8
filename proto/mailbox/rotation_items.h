// SPDX-License-Identifier: Apache-2.0
//
// The items of which catalogues, plans and requests of counter rotation consist on the wire (README.md, "Rotation").
//   Encode(plan, out);
//   SIDEBAND_RETURN_IF_ERROR(Decode(in, events, plan));   // of an untrusted peer
#ifndef SIDEBAND_PROTO_MAILBOX_ROTATION_ITEMS_H_
#define SIDEBAND_PROTO_MAILBOX_ROTATION_ITEMS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/rotation.h"

namespace sideband::mailbox {

// "rotation: WHAT".
absl::Status MalformedRotation(absl::string_view what);

void Encode(const EventSet& events, ByteWriter& out);
void Encode(const RotationSettings& settings, ByteWriter& out);
void Encode(const RotationPlan& plan, ByteWriter& out);
void Encode(const Relation& relation, ByteWriter& out);

// All events must be below `events`. INVALID_ARGUMENT: truncated, an event that does not exist, events that do not
// ascend, no or more than kRotationSetsMax sets, an unknown kind or profile, a relation without members, or one that
// cannot be.
absl::Status Decode(ByteReader& in, size_t events, EventSet& set);
absl::Status Decode(ByteReader& in, size_t events, RotationSettings& settings);
absl::Status Decode(ByteReader& in, size_t events, RotationPlan& plan);
absl::Status Decode(ByteReader& in, size_t events, Relation& relation);

// The payload of the catalogue's section. INVALID_ARGUMENT also for bytes after the end, more than kRelationsMax
// relations or kPlansMax plans, numbers of plans that do not ascend, and more than kRotationSetsMax sets together.
Bytes EncodeRotations(const std::vector<Relation>& relations, const std::vector<RotationPlan>& plans);
absl::Status DecodeRotations(ByteSpan payload, size_t events, std::vector<Relation>& relations,
                             std::vector<RotationPlan>& plans);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_ROTATION_ITEMS_H_
