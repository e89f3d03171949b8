// SPDX-License-Identifier: Apache-2.0
//
// The content of a VM's records: the blocks of the VM and its contexts in a snapshot, with the events that a
// VM can have.
//   target.events = VmEventNames(catalog);                      // of the exchange's statement
//   const SecretBytes content = envelope::EncodeCounts(VmCounts(catalog, snapshot, vm));
#ifndef SIDEBAND_PROTO_EXCHANGE_VM_CONTENT_H_
#define SIDEBAND_PROTO_EXCHANGE_VM_CONTENT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "proto/envelope/counts.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::exchange {

// Positions in the catalogue's list: the events of contexts that are counted at all. The same for a whole boot.
std::vector<size_t> VmEvents(const mailbox::Catalog& catalog);
std::vector<std::string> VmEventNames(const mailbox::Catalog& catalog);

// The snapshot's blocks of a VM, which are its rows.
std::vector<size_t> VmBlocks(const mailbox::Snapshot& snapshot, uint16_t vm);

// The counts as they are in the snapshot, without coverage and estimates. Rows are parallel to VmBlocks. An event that
// the snapshot does not have is 0.
envelope::SealedCounts VmCounts(const mailbox::Catalog& catalog, const mailbox::Snapshot& snapshot, uint16_t vm);

}  // namespace sideband::exchange

#endif  // SIDEBAND_PROTO_EXCHANGE_VM_CONTENT_H_
