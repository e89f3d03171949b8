// SPDX-License-Identifier: Apache-2.0
//
// Encodes the bits of a snapshot's blocks (README.md, "Snapshot").
//   out.Raw(EncodeBlocks(snapshot, base, confidential, Forms::kProportional));
#ifndef SIDEBAND_PROTO_MAILBOX_BLOCK_ENCODER_H_
#define SIDEBAND_PROTO_MAILBOX_BLOCK_ENCODER_H_

#include <cstdint>
#include <set>

#include "proto/base/bytes.h"
#include "proto/mailbox/counter_groups.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::mailbox {

// Encodes relative to `base`, unless it is null. Blocks of VMs in `confidential` are written whole, and so is the
// device's block if the set is not empty. Increments have one of `forms`.
Bytes EncodeBlocks(const Snapshot& snapshot, const Snapshot* base, const std::set<uint16_t>& confidential, Forms forms);

// Whether a block is always written whole.
bool IsWrittenWhole(const BlockHeader& block, const std::set<uint16_t>& confidential);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_BLOCK_ENCODER_H_
