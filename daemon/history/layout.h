// SPDX-License-Identifier: Apache-2.0
//
// Which rows the frames of a chunk have: what is the same in all of them, and must be, so that each can be told as a
// difference from the one before.
//   if (!layout.Describes(*snapshot)) StartChunk(Layout::Of(*snapshot));
#ifndef SIDEBAND_DAEMON_HISTORY_LAYOUT_H_
#define SIDEBAND_DAEMON_HISTORY_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "daemon/model/device_snapshot.h"
#include "daemon/model/topology.h"

namespace sideband::daemon {

struct Layout {
  struct Row {
    uint16_t vm = 0;
    uint16_t context = 0;
    uint32_t generation = 0;
    bool operator==(const Row&) const = default;
  };

  std::shared_ptr<const Topology> topology;  // shared with the snapshots, and with the layouts of other chunks
  uint64_t boot_id = 0;
  uint32_t events = 0;
  bool device_scope_withheld = false;
  std::vector<Row> rows;  // in the device's order

  static Layout Of(const DeviceSnapshot& snapshot);
  // Whether Of(snapshot) would be equal to this.
  bool Describes(const DeviceSnapshot& snapshot) const;
  bool operator==(const Layout&) const = default;

  // Numbers in a frame: a status per row, and every counter.
  size_t values() const { return rows.size() * (size_t{1} + events); }
  // As DeviceSnapshot::IsShown.
  bool IsShown(size_t row, size_t event) const {
    return !(device_scope_withheld && rows[row].vm == mailbox::kHypervisorVm &&
             topology->catalog().events[event].scope == mailbox::EventScope::kDevice);
  }
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HISTORY_LAYOUT_H_
