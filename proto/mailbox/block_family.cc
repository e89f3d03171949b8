// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/block_family.h"

#include <cstdint>

#include "absl/container/flat_hash_map.h"

namespace sideband::mailbox {
namespace {

uint32_t Scope(uint16_t vm, uint16_t context) { return uint32_t{vm} << 16 | context; }
uint32_t Scope(const BlockHeader& block) { return Scope(block.vm, block.context); }

using Places = absl::flat_hash_map<uint32_t, size_t>;

Places PlacesOf(std::span<const BlockHeader> blocks) {
  Places places;
  for (size_t i = 0; i < blocks.size(); ++i) places.try_emplace(Scope(blocks[i]), i);
  return places;
}

size_t Find(const Places& places, uint32_t scope) {
  const auto place = places.find(scope);
  return place == places.end() ? BlockFamily::kNone : place->second;
}

// The level in the hierarchy: 0 for a context, 1 for a VM, 2 for the device.
int Level(const BlockHeader& block) {
  if (block.context != kNoContext) return 0;
  return block.vm == kHypervisorVm ? 2 : 1;
}

}  // namespace

BlockFamily::BlockFamily(std::span<const BlockHeader> blocks) {
  const Places places = PlacesOf(blocks);
  for (const BlockHeader& block : blocks) {
    const int level = Level(block);
    const uint32_t parent = Scope(level == 0 ? block.vm : kHypervisorVm, kNoContext);
    parents_.push_back(level == 2 ? kNone : Find(places, parent));
  }
  for (int level = 0; level <= 2; ++level) {
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (Level(blocks[i]) == level) children_first_.push_back(i);
    }
  }
}

std::vector<size_t> SameBlocks(std::span<const BlockHeader> blocks, std::span<const BlockHeader> base) {
  const Places places = PlacesOf(base);
  std::vector<size_t> same;
  for (const BlockHeader& block : blocks) {
    // The counters of a new generation start at zero.
    const size_t place = Find(places, Scope(block));
    const bool lives_on = place != BlockFamily::kNone && base[place].generation == block.generation;
    same.push_back(lives_on ? place : BlockFamily::kNone);
  }
  return same;
}

}  // namespace sideband::mailbox
