// SPDX-License-Identifier: Apache-2.0
//
// A test device whose VMs and contexts appear, count and disappear at random.
//   RandomSnapshots device(seed);
//   const Snapshot first = device.Next();
//   const Snapshot second = device.Next();   // later
#ifndef SIDEBAND_PROTO_MAILBOX_RANDOM_SNAPSHOTS_H_
#define SIDEBAND_PROTO_MAILBOX_RANDOM_SNAPSHOTS_H_

#include <rapidcheck.h>

#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "proto/mailbox/snapshot.h"

namespace sideband::mailbox {

// All widths are as likely.
inline uint64_t AnyNumber() { return *rc::gen::arbitrary<uint64_t>() >> *rc::gen::inRange(0, 64); }

// Not thread-safe.
class RandomSnapshots {
 public:
  // With rotation, some of the events rotate; the numbers mostly grow as a device's do.
  explicit RandomSnapshots(uint64_t seed, bool with_rotation = false);

  // IDs and times ascend. Blocks occasionally appear, disappear and change their generation. Counts add up from
  // contexts to the device, except for some counts that only a VM or the device has, and for those of a private VM.
  Snapshot Next();
  // Like VmsWrittenWhole: there may be a confidential VM, private or not.
  const VmIds& whole() const { return whole_; }

 private:
  struct Block {
    BlockHeader header;
    std::vector<uint64_t> counters;
    BlockRotation rotation = {};
  };

  uint32_t Below(uint32_t limit) { return std::uniform_int_distribution<uint32_t>(0, limit - 1)(random_); }
  bool OneIn(uint32_t n) { return Below(n) == 0; }
  void ChangeTopology();
  bool IsPrivate(uint16_t vm) const { return whole_.contains(vm) && !whole_.contains(kHypervisorVm); }
  void Count(Block& block, const std::vector<uint64_t>& more);
  std::vector<uint64_t> SomeCounts();
  uint64_t SomeCount() { return OneIn(4) ? 0 : random_() >> Below(64); }
  void ChangeLayout();
  void Rotate(BlockRotation& numbers);

  std::mt19937_64 random_;
  uint32_t counters_;
  const bool with_rotation_;
  std::map<std::pair<uint16_t, uint16_t>, Block> blocks_;
  VmIds whole_;
  Snapshot now_;
};

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_RANDOM_SNAPSHOTS_H_
