// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/conservation.h"

#include "absl/container/flat_hash_map.h"
#include "daemon/snapshot/level.h"

namespace sideband::daemon {
namespace {

// Flags of numbers that add all the same.
constexpr uint16_t kAdditive = mailbox::kFlagEstimated | mailbox::kFlagRotationInconsistent;

// Whether the device's block has none of the VM's counts.
bool IsPrivate(const Topology& topology, uint16_t id) {
  const mailbox::VmInfo* const vm = topology.FindVm(id);
  return vm != nullptr && vm->is_private;
}

// The sum of the rows that make up one larger row.
class Sum {
 public:
  explicit Sum(size_t events) : counted_(events, 0), shown_(events, 0) {}

  void Add(const Rotation& rotation, const mailbox::Snapshot& raw, size_t block) {
    flags_ |= raw.blocks[block].flags;
    const auto counters = raw.Counters(block);
    for (size_t i = 0; i < counted_.size(); ++i) {
      counted_[i] += counters[i];
      shown_[i] += rotation.Shown(raw, block, i);
    }
  }

  bool IsWithin(const Topology& topology, const mailbox::Snapshot& raw, size_t block) const {
    // A flagged row may be inexact, and so may a sum that includes one. Estimates add like counts.
    if (((flags_ | raw.blocks[block].flags) & ~kAdditive) != 0) return true;
    const auto whole = raw.Counters(block);
    for (size_t i = 0; i < counted_.size(); ++i) {
      // Events of device scope are counted in the device's row alone.
      if (topology.catalog().events[i].scope != mailbox::EventScope::kContext) continue;
      if (counted_[i] > whole[i] || shown_[i] > topology.rotation().Shown(raw, block, i)) return false;
    }
    return true;
  }

 private:
  mailbox::CounterValues counted_, shown_;
  uint16_t flags_ = 0;
};

}  // namespace

bool CheckConservation(const Topology& topology, const mailbox::Snapshot& raw) {
  const Rotation& rotation = topology.rotation();
  absl::flat_hash_map<uint16_t, Sum> contexts_of;  // keyed by VM
  Sum parts(raw.counters_per_block);               // of the device: VMs and hosts
  for (size_t block = 0; block < raw.blocks.size(); ++block) {
    const mailbox::BlockHeader& header = raw.blocks[block];
    const Level level = LevelOf(header);
    const bool is_part = level == Level::kHost || (level == Level::kVm && !IsPrivate(topology, header.vm));
    if (is_part) parts.Add(rotation, raw, block);
    if (level == Level::kContext) {
      contexts_of.try_emplace(header.vm, raw.counters_per_block).first->second.Add(rotation, raw, block);
    }
  }
  for (size_t block = 0; block < raw.blocks.size(); ++block) {
    const mailbox::BlockHeader& header = raw.blocks[block];
    const Level level = LevelOf(header);
    if (level == Level::kDevice && !parts.IsWithin(topology, raw, block)) return false;
    if (level != Level::kVm) continue;
    const auto contexts = contexts_of.find(header.vm);
    if (contexts != contexts_of.end() && !contexts->second.IsWithin(topology, raw, block)) return false;
  }
  return true;
}

}  // namespace sideband::daemon
