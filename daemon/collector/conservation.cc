// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/conservation.h"

#include <openssl/crypto.h>

#include <vector>

#include "absl/container/flat_hash_map.h"

namespace sideband::daemon {
namespace {

// What the parts of a row have together. Wiped: they may be a confidential VM's.
class Sum {
 public:
  explicit Sum(size_t events) : totals_(events, 0) {}
  Sum(Sum&&) = default;
  ~Sum() { OPENSSL_cleanse(totals_.data(), totals_.size() * sizeof(uint64_t)); }

  void Add(const mailbox::Snapshot& raw, size_t block) {
    flags_ |= raw.blocks[block].flags;
    const auto counters = raw.Counters(block);
    for (size_t i = 0; i < totals_.size(); ++i) totals_[i] += counters[i];
  }

  bool IsWithin(const mailbox::Catalog& catalog, const mailbox::Snapshot& raw, size_t block) const {
    if ((flags_ | raw.blocks[block].flags) != 0) return true;
    const auto whole = raw.Counters(block);
    for (size_t i = 0; i < totals_.size(); ++i) {
      if (catalog.events[i].scope == mailbox::EventScope::kContext && totals_[i] > whole[i]) return false;
    }
    return true;
  }

 private:
  std::vector<uint64_t> totals_;
  uint16_t flags_ = 0;
};

}  // namespace

bool CheckConservation(const Topology& topology, const mailbox::Snapshot& raw) {
  absl::flat_hash_map<uint16_t, Sum> contexts_of;  // by VM
  Sum vms(raw.counters_per_block);
  for (size_t block = 0; block < raw.blocks.size(); ++block) {
    const mailbox::BlockHeader& header = raw.blocks[block];
    if (header.vm == mailbox::kHypervisorVm) continue;
    if (header.context == mailbox::kNoContext) {
      vms.Add(raw, block);
    } else {
      contexts_of.try_emplace(header.vm, raw.counters_per_block).first->second.Add(raw, block);
    }
  }
  for (size_t block = 0; block < raw.blocks.size(); ++block) {
    const mailbox::BlockHeader& header = raw.blocks[block];
    if (header.context != mailbox::kNoContext) continue;
    const auto contexts = contexts_of.find(header.vm);
    if (header.vm == mailbox::kHypervisorVm && !vms.IsWithin(topology.catalog(), raw, block)) return false;
    if (contexts != contexts_of.end() && !contexts->second.IsWithin(topology.catalog(), raw, block)) return false;
  }
  return true;
}

}  // namespace sideband::daemon
