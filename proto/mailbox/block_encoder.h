// SPDX-License-Identifier: Apache-2.0
//
// Encodes the bits of a snapshot's blocks (README.md, "Snapshot").
//   out.Raw(EncodeBlocks(snapshot, base, whole, Forms::kProportional));
#ifndef SIDEBAND_PROTO_MAILBOX_BLOCK_ENCODER_H_
#define SIDEBAND_PROTO_MAILBOX_BLOCK_ENCODER_H_

#include <cstdint>
#include <set>

#include "proto/base/bytes.h"
#include "proto/mailbox/counter_groups.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::mailbox {

// Encodes relative to `base`, unless it is null. Blocks of the VMs in `whole` are written whole, and are no children of
// another block. Increments have one of `forms`.
Bytes EncodeBlocks(const Snapshot& snapshot, const Snapshot* base, const std::set<uint16_t>& whole, Forms forms);

// Whether a block is always written whole: one of a VM in `whole`, but for host blocks.
bool IsWrittenWhole(const BlockHeader& block, const std::set<uint16_t>& whole);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_BLOCK_ENCODER_H_
