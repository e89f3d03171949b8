// SPDX-License-Identifier: Apache-2.0
//
// The properties that all frames of a chunk share, so that each frame can be encoded relative to its predecessor.
//   if (!layout.Describes(*snapshot)) StartChunk(Layout::Of(*snapshot));
#ifndef SIDEBAND_DAEMON_HISTORY_LAYOUT_H_
#define SIDEBAND_DAEMON_HISTORY_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "daemon/snapshot/device_snapshot.h"
#include "daemon/snapshot/topology.h"

namespace sideband::daemon {

struct Layout {
  struct Row {
    uint16_t vm = 0;
    uint16_t context = 0;
    uint32_t generation = 0;
    bool operator==(const Row&) const = default;
  };

  std::shared_ptr<const Topology> topology;  // shared with snapshots and with other chunks' layouts; its plans: of any
  uint64_t boot_id = 0;
  uint32_t events = 0;
  uint32_t estimates = 0;  // events that take turns; 0 if all counts are exact
  bool device_scope_withheld = false;
  bool device_row_withheld = false;
  std::vector<Row> rows;  // in the device's order

  static Layout Of(const DeviceSnapshot& snapshot);
  // Returns whether Of(snapshot) equals this layout.
  bool Describes(const DeviceSnapshot& snapshot) const;
  // Layouts whose topologies differ only in plans of counter rotation are equal: frames have nothing of them, and a
  // tenant's plan must not shorten the history of others.
  bool operator==(const Layout& other) const;

  // Number of values in a frame: one status per row, every counter, and what is shown of events that take turns.
  size_t values() const { return rows.size() * (size_t{1} + events + estimates); }
  bool IsEstimated(size_t event) const { return estimates > 0 && topology->rotation().IsRotated(event); }
  // See DeviceSnapshot::IsShown.
  bool IsShown(size_t row, size_t event) const {
    const bool is_device = rows[row].vm == mailbox::kHypervisorVm && rows[row].context == mailbox::kNoContext;
    return !(is_device && device_row_withheld) && topology->IsShown(rows[row].vm, event, device_scope_withheld);
  }
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HISTORY_LAYOUT_H_
