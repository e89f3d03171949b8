// SPDX-License-Identifier: Apache-2.0
//
// What a simulated device knows of itself, and the check of what a controller made of it.
//   Truth truth;
//   truth.Latched(boot_id, snapshot, catalog);            // the device, at each latch
//   EXPECT_EQ(truth.Accept(snapshot, topology), "");      // the controller, for each snapshot that it takes for good
#ifndef SIDEBAND_TESTS_SIMULATION_TRUTH_H_
#define SIDEBAND_TESTS_SIMULATION_TRUTH_H_

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "daemon/model/topology.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::tests {

// One life of a block.
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

  // The device's side. A latch is known by its trigger id, which no other of that boot has.
  void Latched(uint64_t boot_id, const mailbox::Snapshot& snapshot, const mailbox::Catalog& catalog);
  // The block is gone for good, with these as its final counts.
  void Vanished(const BlockLife& life, const Counters& counters);

  // The controller's side: empty where the snapshot is right, else what is wrong with it. It is right when
  // * it is what was latched, number by number, with the catalogue of that instant;
  // * no snapshot of that boot is accepted twice, or after a later one, and no counter of a block's life goes back;
  // * the final counts of every life that had ended before were seen: so that what the controller adds up of
  // differences
  //   is what the device has counted since that controller saw it first.
  std::string Accept(const mailbox::Snapshot& snapshot, const daemon::Topology& topology);

 private:
  struct Latch {
    mailbox::Snapshot snapshot;  // without the firmware's numbers
    mailbox::Catalog catalog;
    uint64_t vanished = 0;  // how many lives had ended before
  };
  // Latches that a controller could still come up with.
  static constexpr size_t kLatchesMax = 64;

  std::string CompareToLatch(const mailbox::Snapshot& snapshot, const daemon::Topology& topology, uint64_t& vanished);
  std::string AddDifferences(const mailbox::Snapshot& snapshot);
  std::string CheckFinals(uint64_t boot_id, uint64_t vanished);

  uint64_t boot_id_ = 0;
  std::deque<Latch> latches_;                             // of boot_id_
  std::vector<std::pair<BlockLife, Counters>> vanished_;  // likewise
  uint64_t finals_checked_ = 0;                           // of vanished_

  uint64_t accepted_boot_ = 0;
  uint32_t accepted_trigger_ = 0;
  uint32_t accepted_id_ = 0;
  std::map<BlockLife, Counters> sums_;  // of differences between accepted snapshots
  std::map<BlockLife, Counters> last_;  // as last accepted; of accepted_boot_
};

}  // namespace sideband::tests

#endif  // SIDEBAND_TESTS_SIMULATION_TRUTH_H_
