// SPDX-License-Identifier: Apache-2.0
//
// The features of a device of version 2: the bits of DISCOVER's feature map. (mailbox.md, "Registry".)
//   const uint64_t features = uint64_t{extended_data} << 32 | data;
//   if (const FeatureRow* const row = FeatureWithoutOpcode(features, opcodes)) Reject(row->name);
#ifndef SIDEBAND_PROTO_MAILBOX_FEATURES_H_
#define SIDEBAND_PROTO_MAILBOX_FEATURES_H_

#include <cstdint>

namespace sideband::mailbox {

// PEEK: live counters of one block, without a latch (peek.h).
inline constexpr uint64_t kPeekFeature = uint64_t{1} << 0;

// CONFIG: who is counted may be read and changed (counting.h).
inline constexpr uint64_t kGateGroupsFeature = uint64_t{1} << 1;
// Selections: a VM's choice of the events that are counted (gate_controls.h).
inline constexpr uint64_t kSelectionsFeature = uint64_t{1} << 2;

// Blocks of the hypervisor's work on slices without a resident (catalog.h, HostBlockInfo).
inline constexpr uint64_t kHostBlocksFeature = uint64_t{1} << 3;

// VMs may be private: the device's block has none of their counts (catalog.h).
inline constexpr uint64_t kPrivateVmsFeature = uint64_t{1} << 4;

// Counter rotation: ROTATE, and numbers of what was not counted all the time (rotation.h).
inline constexpr uint64_t kRotationFeature = uint64_t{1} << 5;

// Clock domains in the catalogue, their clocks in snapshots, and the steps of TRIGGER from SELECT on (clocks.h).
inline constexpr uint64_t kClocksFeature = uint64_t{1} << 6;

// SEAL: the device seals the blocks of confidential VMs; nobody who reads the bus has them (seal.h).
inline constexpr uint64_t kSealingFeature = uint64_t{1} << 7;

struct FeatureRow {
  uint8_t bit;
  const char* name;
  uint8_t opcode;  // that serves the feature; 0: none
};
// Bits without a row are reserved; a reader ignores them.
inline constexpr FeatureRow kFeatures[] = {
    {0, "PEEK", 0x67},
    {1, "gate groups", 0x68},
    {2, "selections", 0x68},
    {3, "host blocks", 0},
    {4, "private VMs", 0},
    {5, "rotation", 0x69},
    {6, "clock domains, bookmarks", 0x66},
    {7, "sealing by the device", 0x65},
};

// `opcodes` as DISCOVER reports them, bit n for 0x60 + n. Returns the first feature whose opcode is not served, nullptr
// if there is none.
constexpr const FeatureRow* FeatureWithoutOpcode(uint64_t features, uint32_t opcodes) {
  for (const FeatureRow& row : kFeatures) {
    const bool is_served = row.opcode == 0 || (opcodes >> (row.opcode & 0x0F) & 1) != 0;
    if ((features >> row.bit & 1) != 0 && !is_served) return &row;
  }
  return nullptr;
}

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_FEATURES_H_
