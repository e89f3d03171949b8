// SPDX-License-Identifier: Apache-2.0
#include "daemon/stream/redundancy.h"

#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"

namespace sideband::daemon {
namespace {

RowDigest DigestOf(uint64_t boot_id, const sideband::v1::ScopeCounters& row) {
  const sideband::v1::Scope& scope = row.scope();
  const uint64_t slice = scope.has_slice() ? uint64_t{scope.slice()} + 1 : 0;
  uint64_t content = absl::HashOf(boot_id, static_cast<int>(row.state()), row.flags_size(), row.counters_size());
  for (const std::string& flag : row.flags()) content = absl::HashOf(content, flag);
  for (const sideband::v1::Counter& counter : row.counters()) {
    content = absl::HashOf(content, counter.event(), counter.count());
  }
  return {.scope = absl::HashOf(slice, scope.vm(), scope.vm_uuid(), scope.context(), scope.generation(), scope.host()),
          .content = content};
}

}  // namespace

RowDigests DigestsOf(const sideband::v1::Snapshot& update) {
  RowDigests digests;
  digests.reserve(static_cast<size_t>(update.scopes_size()));
  for (const auto& row : update.scopes()) digests.push_back(DigestOf(update.boot_id(), row));
  return digests;
}

void RemoveUnchanged(const RowDigests& before, const RowDigests& now, sideband::v1::Snapshot& update) {
  absl::flat_hash_map<uint64_t, uint64_t> contents;
  contents.reserve(before.size());
  for (const RowDigest& row : before) contents.emplace(row.scope, row.content);
  int kept = 0;
  for (int i = 0; i < update.scopes_size(); ++i) {
    const RowDigest& row = now[static_cast<size_t>(i)];
    const auto known = contents.find(row.scope);
    if (known != contents.end() && known->second == row.content) continue;
    if (kept != i) update.mutable_scopes()->SwapElements(kept, i);
    ++kept;
  }
  update.mutable_scopes()->DeleteSubrange(kept, update.scopes_size() - kept);
}

}  // namespace sideband::daemon
