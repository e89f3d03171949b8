// SPDX-License-Identifier: Apache-2.0
//
// The bits of a snapshot's blocks: README.md, "Snapshot".
//   out.Raw(EncodeBlocks(snapshot, base, confidential));
#ifndef SIDEBAND_PROTO_MAILBOX_BLOCK_ENCODER_H_
#define SIDEBAND_PROTO_MAILBOX_BLOCK_ENCODER_H_

#include <cstdint>
#include <set>

#include "proto/base/bytes.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::mailbox {

// Relative to `base`, if there is one. Blocks of the VMs in `confidential` are written whole, and the device's where
// there are any.
Bytes EncodeBlocks(const Snapshot& snapshot, const Snapshot* base, const std::set<uint16_t>& confidential);

// Whether a block is one of those.
bool IsWrittenWhole(const BlockHeader& block, const std::set<uint16_t>& confidential);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_BLOCK_ENCODER_H_
