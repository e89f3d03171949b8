// SPDX-License-Identifier: Apache-2.0
//
// The true counts of a simulated device, and the check of a controller's snapshots against them.
//   Truth truth;
//   truth.Latched(boot_id, snapshot, catalog);            // the device, at each latch
//   EXPECT_EQ(truth.Accept(snapshot, topology), "");      // the controller, for each snapshot that it accepts
#ifndef SIDEBAND_TESTS_SIMULATION_TRUTH_H_
#define SIDEBAND_TESTS_SIMULATION_TRUTH_H_

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "daemon/snapshot/topology.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::tests {

// One life of a block, from its creation to its end.
struct BlockLife {
  uint64_t boot_id = 0;
  uint16_t vm = 0;
  uint16_t context = 0;
  uint32_t generation = 0;
  auto operator<=>(const BlockLife&) const = default;
};

// Not thread-safe.
class Truth {
 public:
  using Counters = std::vector<uint64_t>;

  // Called by the device. A latch is identified by its trigger id, which is unique within the boot.
  void Latched(uint64_t boot_id, const mailbox::Snapshot& snapshot, const mailbox::Catalog& catalog);
  // Called by the device: the block has ended, with these final counts.
  void Vanished(const BlockLife& life, const Counters& counters);

  // Called by the controller. Returns an empty string if the snapshot is correct, else a description of the error. A
  // snapshot is correct if
  // * it equals the latched one, number by number, with the catalogue of that instant;
  // * no snapshot of that boot is accepted twice, or after a later one, and no counter of a block's life decreases;
  // * the controller has seen the final counts of every life that had ended before, so that its sum of differences
  //   equals the device's counts since the controller's first snapshot.
  std::string Accept(const mailbox::Snapshot& snapshot, const daemon::Topology& topology);

 private:
  struct Latch {
    mailbox::Snapshot snapshot;  // without the numbers that the firmware adds
    mailbox::Catalog catalog;
    uint64_t vanished = 0;  // the number of lives that had ended before
  };
  // The number of latches from which a controller may still accept a snapshot.
  static constexpr size_t kLatchesMax = 64;

  std::string CompareToLatch(const mailbox::Snapshot& snapshot, const daemon::Topology& topology, uint64_t& vanished);
  std::string AddDifferences(const mailbox::Snapshot& snapshot);
  std::string CheckFinals(uint64_t boot_id, uint64_t vanished);

  uint64_t boot_id_ = 0;
  std::deque<Latch> latches_;                             // of boot_id_
  std::vector<std::pair<BlockLife, Counters>> vanished_;  // of boot_id_
  uint64_t finals_checked_ = 0;                           // the number of elements of vanished_ that were checked

  uint64_t accepted_boot_ = 0;
  uint32_t accepted_trigger_ = 0;
  uint32_t accepted_id_ = 0;
  std::map<BlockLife, Counters> sums_;  // sums of differences between accepted snapshots
  std::map<BlockLife, Counters> last_;  // the last accepted counters, of accepted_boot_
};

}  // namespace sideband::tests

#endif  // SIDEBAND_TESTS_SIMULATION_TRUTH_H_
