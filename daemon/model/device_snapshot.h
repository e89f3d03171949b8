// SPDX-License-Identifier: Apache-2.0
//
// What the daemon publishes of a device: everything that may be shown in plaintext to somebody, and sealed records for
// the rest. Confidential VMs have no rows here at all.
#ifndef SIDEBAND_DAEMON_MODEL_DEVICE_SNAPSHOT_H_
#define SIDEBAND_DAEMON_MODEL_DEVICE_SNAPSHOT_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "daemon/model/ratio.h"
#include "daemon/model/topology.h"
#include "proto/base/bytes.h"
#include "proto/base/uuid.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

// A device as the configuration names it.
struct DeviceInfo {
  std::string name;
  absl::Duration interval;
  uint32_t bus_hz = 0;  // SCL of the device's bus; 0: it knows no such limit
  std::vector<RatioSpec> ratios;
  // A device's snapshot is fresh for so many intervals; then the device is stale and its series disappear.
  static constexpr int kFreshIntervals = 3;
};

struct SealedVmRecord {
  Uuid vm;
  std::shared_ptr<const Bytes> record;  // shared by every stream that carries it
};

// Immutable once published.
struct DeviceSnapshot {
  std::shared_ptr<const Topology> topology;  // shared by all snapshots between two catalogue changes
  // Rows in the device's order: the device (VM 0) first, then VMs and contexts. Without confidential VMs, also in the
  // device's row, which then has kFlagConfidentialExcluded.
  mailbox::Snapshot data;
  // Events per second of device reference time since the snapshot before, parallel to data.counters; NaN where unknown
  // (first snapshot, another boot id or generation, no time between).
  std::vector<double> rates;
  // When each block's counters were zero, parallel to data.blocks: the last instant of the host's clock of which the
  // daemon knows that the block was not there yet. The device's boot, where the block is older than the daemon.
  std::vector<absl::Time> created;
  // Because a confidential VM is on the device, or was since its boot, device-scope events cannot be shown without it:
  // they are withheld.
  bool device_scope_withheld = false;
  std::vector<SealedVmRecord> sealed;
  // The host's clock half-way through the latch, and half of what the latch took.
  absl::Time host_time;
  absl::Duration host_time_error;
  // The steady clock when the latch began: ages are counted from it.
  absl::Duration steady_time;
  // 1, 2, 3, … for each device in this run of the daemon.
  uint64_t publication = 0;

  // The rates of one row, by event; empty where none are known.
  std::span<const double> Rates(size_t row) const {
    if (rates.empty()) return {};
    return std::span(rates).subspan(row * data.counters_per_block, data.counters_per_block);
  }
  // Whether the counter may be shown at all; the policy still decides to whom.
  bool IsShown(size_t row, size_t event) const {
    return !(device_scope_withheld && data.blocks[row].vm == mailbox::kHypervisorVm &&
             topology->catalog().events[event].scope == mailbox::EventScope::kDevice);
  }
  bool IsFresh(absl::Duration steady_now, const DeviceInfo& device) const {
    return steady_now - steady_time <= DeviceInfo::kFreshIntervals * device.interval;
  }
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_MODEL_DEVICE_SNAPSHOT_H_
