// SPDX-License-Identifier: Apache-2.0
//
// Where the hardware finds memory blocks: virtual pages of one block each, in an address space for each VM
// (pipeline.md, "Address spaces"). Every space has the same layout.
//   const CommitTarget target{.space = 1, .vm = PageOf(mailbox::kNoContext), .context = PageOf(4)};
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_BLOCK_ADDRESS_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_BLOCK_ADDRESS_H_

#include <cstdint>
#include <optional>

#include "proto/mailbox/catalog.h"

namespace sideband::mcu {

using VirtualPage = uint32_t;

// Page 0 is the VM's own block, page 1 + c that of its context c. `context` is as in a block's header.
constexpr VirtualPage PageOf(uint16_t context) { return context == mailbox::kNoContext ? 0 : 1u + context; }

// What a reduction channel holds: where its commits go, and in whose space these pages are meant.
struct CommitTarget {
  uint16_t space = 0;  // the number of the VM
  VirtualPage vm = 0;
  std::optional<VirtualPage> context;  // absent while a VM is resident without a context
  bool operator==(const CommitTarget&) const = default;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_BLOCK_ADDRESS_H_
