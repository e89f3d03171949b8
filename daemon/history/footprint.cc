// SPDX-License-Identifier: Apache-2.0
#include "daemon/history/footprint.h"

#include <string>

namespace sideband::daemon {
namespace {

// Heap memory of a string, including the allocation's header.
size_t Heap(const std::string& text) { return text.capacity() < sizeof(std::string) / 2 ? 0 : text.capacity() + 17; }

// One entry of a flat_hash_map with its share of free slots, which are between 1/8 and 9/16 of all slots.
template <typename Key>
constexpr size_t kMapEntry = (sizeof(Key) + sizeof(void*) + 8) * 16 / 7;

}  // namespace

size_t Footprint(const Topology& topology) {
  const mailbox::Catalog& catalog = topology.catalog();
  size_t bytes = sizeof(Topology) + 64;
  for (const auto& event : catalog.events) {
    bytes += sizeof(event) + Heap(event.name) + Heap(event.unit) + Heap(event.description);
  }
  for (const auto& slice : catalog.slices) bytes += sizeof(slice) + Heap(slice.name);
  for (const auto& vm : catalog.vms) bytes += sizeof(vm) + Heap(vm.name) + kMapEntry<uint16_t>;
  for (const auto& context : catalog.contexts) {
    bytes += sizeof(context) + Heap(context.name) + kMapEntry<std::pair<uint16_t, uint16_t>>;
  }
  return bytes;
}

}  // namespace sideband::daemon
