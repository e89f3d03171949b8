// SPDX-License-Identifier: Apache-2.0
//
// The sealed records in a snapshot, without those eights of their headers that the base's records have, too: most of a
// header stays the same from one snapshot to the next (mailbox.md, "Sections"; README.md).
//   AppendSection(SnapshotSection::kSealedRecords, EncodeSealed(snapshot.sealed, base.sealed), out);
//   SIDEBAND_ASSIGN_OR_RETURN(snapshot.sealed, DecodeSealed(payload, base.sealed));
#ifndef SIDEBAND_PROTO_MAILBOX_SEALED_SECTION_H_
#define SIDEBAND_PROTO_MAILBOX_SEALED_SECTION_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::mailbox {

// The first bytes of a record, which a base keeps. What follows is ciphertext, and has nothing in common.
inline constexpr size_t kSealedPrefixBytes = 128;

// `base` has the records of the base, or their prefixes; none without a base.
Bytes EncodeSealed(const std::vector<SealedBlocks>& sealed, const std::vector<SealedBlocks>& base = {});
// The payload comes from an untrusted peer, and what is in a record is not looked at. INVALID_ARGUMENT: truncated, a
// VM that cannot be, VMs that do not ascend (a VM may have two records, of two exchanges), an empty record, one of more
// than the payload and its prefix, bytes that the base does not have.
absl::StatusOr<std::vector<SealedBlocks>> DecodeSealed(ByteSpan payload, const std::vector<SealedBlocks>& base = {});

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_SEALED_SECTION_H_
