// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/page_tables.h"

namespace sideband::mcu {
namespace {

constexpr uint64_t kValid = uint64_t{1} << 63;

}  // namespace

void PageTables::Map(uint16_t space, VirtualPage page, BlockId block) {
  const auto [root, is_new] = roots_.try_emplace(space, static_cast<TableId>(tables_.size()));
  if (is_new) tables_.emplace_back();
  std::vector<Entry>& table = tables_[root->second];
  if (page >= table.size()) table.resize(page + size_t{1});
  table[page] = kValid | block;
}

void PageTables::Invalidate(uint16_t space, VirtualPage page) {
  const auto root = roots_.find(space);
  if (root == roots_.end() || page >= tables_[root->second].size()) return;
  tables_[root->second][page] &= ~kValid;
}

std::optional<TableId> PageTables::RootOf(uint16_t space) const {
  const auto root = roots_.find(space);
  return root == roots_.end() ? std::nullopt : std::optional(root->second);
}

std::optional<BlockId> PageTables::Walk(TableId root, VirtualPage page) const {
  if (root >= tables_.size() || page >= tables_[root].size()) return std::nullopt;
  const Entry entry = tables_[root][page];
  return (entry & kValid) == 0 ? std::nullopt : std::optional(static_cast<BlockId>(entry & ~kValid));
}

}  // namespace sideband::mcu
