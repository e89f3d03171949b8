// SPDX-License-Identifier: Apache-2.0
//
// Where the hardware finds memory blocks: virtual pages of one block each, in an address space for each VM, and the
// table of each space from pages to blocks (pipeline.md, "Address spaces"). Every space has the same layout.
//
//   PageTables tables;
//   tables.Map(/*space=*/1, PageOf(4), /*block=*/9);
//   tables.Walk(*tables.RootOf(1), PageOf(4));      // 9
//   tables.Invalidate(1, PageOf(4));
//   tables.Walk(*tables.RootOf(1), PageOf(4));      // nullopt
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_PAGE_TABLES_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_PAGE_TABLES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "proto/mailbox/catalog.h"

namespace sideband::mcu {

using VirtualPage = uint32_t;

// Page 0 is the VM's own block, page 1 + c that of its context c. `context` is as in a block's header.
constexpr VirtualPage PageOf(uint16_t context) { return context == mailbox::kNoContext ? 0 : 1u + context; }

// The content of a reduction channel's register: where its commits go, and in whose space these pages are meant.
struct CommitTarget {
  uint16_t space = 0;  // the number of the VM
  VirtualPage vm = 0;
  std::optional<VirtualPage> context;  // absent while a VM is resident without a context
  bool operator==(const CommitTarget&) const = default;
};

// The number of a block in memory.
using BlockId = uint32_t;
// The content of a root register: which table.
using TableId = uint32_t;

inline constexpr size_t kPageEntryBytes = 8;

// Not thread-safe.
class PageTables {
 public:
  // Writes a valid entry. The space gets its table with its first entry.
  void Map(uint16_t space, VirtualPage page, BlockId block);
  // The entry, if there is one, is not valid from now on.
  void Invalidate(uint16_t space, VirtualPage page);

  // nullopt: the space has no table.
  std::optional<TableId> RootOf(uint16_t space) const;
  // The block of the page; nullopt without a valid entry.
  std::optional<BlockId> Walk(TableId root, VirtualPage page) const;

 private:
  // A valid bit, and the number of the block.
  using Entry = uint64_t;
  static_assert(sizeof(Entry) == kPageEntryBytes);

  std::map<uint16_t, TableId> roots_;
  std::vector<std::vector<Entry>> tables_;  // by table and page
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_PAGE_TABLES_H_
