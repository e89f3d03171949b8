// SPDX-License-Identifier: Apache-2.0
//
// The data that the daemon publishes of a device: everything that may be shown in plaintext to a caller, and sealed
// records for the rest. Confidential VMs have no rows here.
//   if (LevelOf(block) == Level::kVm) Use(block.vm);
#ifndef SIDEBAND_DAEMON_SNAPSHOT_DEVICE_SNAPSHOT_H_
#define SIDEBAND_DAEMON_SNAPSHOT_DEVICE_SNAPSHOT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "daemon/snapshot/coverage.h"
#include "daemon/snapshot/device_info.h"
#include "daemon/snapshot/ratio.h"
#include "daemon/snapshot/topology.h"
#include "proto/base/bytes.h"
#include "proto/base/uuid.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

// The levels at which events are counted: the device, its VMs, their contexts, and the hypervisor on each slice without
// a resident. A VM's counts include its contexts', the device's its VMs' and the hypervisor's, so a sum over two levels
// may count twice (docs/design/telemetry.md, "Levels").
enum class Level : uint8_t { kDevice = 0, kVm = 1, kContext = 2, kHost = 3 };

struct LevelRow {
  Level level;
  const char* name;  // in the names of metrics and in queries
};

inline constexpr LevelRow kLevels[] = {
    {Level::kDevice, "device"}, {Level::kVm, "vm"}, {Level::kContext, "context"}, {Level::kHost, "host"}};

constexpr size_t IndexOf(Level level) { return static_cast<size_t>(level); }
constexpr const char* NameOf(Level level) { return kLevels[IndexOf(level)].name; }

constexpr Level LevelOf(const mailbox::BlockHeader& block) {
  if (block.vm == mailbox::kHypervisorVm) return IsHostBlock(block) ? Level::kHost : Level::kDevice;
  return block.context == mailbox::kNoContext ? Level::kVm : Level::kContext;
}

struct SealedVmRecord {
  Uuid vm;
  uint64_t stream = 0;  // 0: for all streams; else for one stream with a nonce (daemon/sealing/sealer_set.h)
  std::shared_ptr<const Bytes> record;  // shared by every stream that carries it
};

// Immutable once published.
struct DeviceSnapshot {
  std::shared_ptr<const Topology> topology;  // shared by all snapshots between two catalogue changes
  // Rows in the device's order: the device (VM 0) first, then VMs and contexts. Confidential VMs are excluded, also
  // from the device's row, which then has kFlagConfidentialExcluded. A row with an event that was not counted in every
  // resident cycle, because of its gate or of turns, has kFlagPartial.
  mailbox::Snapshot data;
  // The shown values in place of data.counters, parallel to them: estimates of multiplexed events. Empty if all counts
  // are exact.
  mailbox::CounterValues estimated;
  // Events per second of device reference time since the previous snapshot, parallel to data.counters; NaN where
  // unknown (first snapshot, another boot id or generation, no time in between), and for an event whose gate was closed
  // in all resident cycles meanwhile.
  std::vector<double> rates;
  // Parallel to `rates`; empty if all counts are exact, and without rates. Those of exact counts are the rate.
  std::vector<RateBounds> rate_bounds;
  // The reference time of the rates' interval; zero where there are none.
  absl::Duration elapsed;
  // The time at which each block's counters were zero, parallel to data.blocks: the last instant of the host's clock at
  // which the block is known not to have existed. For a block older than the daemon, the device's boot.
  std::vector<absl::Time> created;
  // The same of the device itself: the time at which its reference clock was zero.
  absl::Time booted = absl::InfinitePast();
  // Device-scope events are withheld, since a confidential VM is on the device, or was since its boot, and the counts
  // cannot be shown without it.
  bool device_scope_withheld = false;
  // The device's row is not its own block, but the sum of what the shown VMs count: the block has, or has had in this
  // boot, counts of a confidential VM that is not private (docs/decisions/0003 and 0024).
  bool device_row_is_sum = false;
  // The squares of such a row's errors of estimates, before they were rounded, so that the next row goes on exactly.
  std::vector<double> device_row_squares;
  // The device's row is not published, since complement protection withholds it (device_info.h).
  bool device_row_withheld = false;
  std::vector<SealedVmRecord> sealed;
  // The IDs of confidential VMs whose blocks never left the device: it seals them itself. Ascending.
  std::vector<uint16_t> sealed_by_device;
  // Parallel to the catalogue's clock domains; empty of a device that does not report its clocks.
  std::vector<ClockState> clocks;
  std::optional<ReferenceRate> reference_rate;  // by the host's clock
  // The reference clock contradicts what is configured of it: host_time is as close as one exchange.
  bool reference_is_unsound = false;
  // None of a device without a trigger line, of its driver, and while nothing is known.
  std::optional<LineOffset> line_offset;
  // The host's clock at the latch, and the largest error to either side.
  absl::Time host_time;
  absl::Duration host_time_error;
  std::optional<absl::Duration> host_utc_error;  // of the host's clock itself (Clock::UtcError)
  // The steady clock at the start of the latch; ages are counted from it.
  absl::Duration steady_time;
  // 1, 2, 3, … for each device in this run of the daemon.
  uint64_t publication = 0;
  bool has_board = false;  // whether its board had been read

  bool IsSealedByDevice(uint16_t vm) const { return std::ranges::binary_search(sealed_by_device, vm); }
  // Whether nothing that was counted in the row may be shown.
  bool IsWithheld(size_t row) const { return device_row_withheld && LevelOf(data.blocks[row]) == Level::kDevice; }
  // The rates of a row, by event; empty where the snapshot has no rates, and of a row that is withheld.
  std::span<const double> Rates(size_t row) const {
    if (rates.empty() || IsWithheld(row)) return {};
    return std::span(rates).subspan(row * data.counters_per_block, data.counters_per_block);
  }
  std::span<const RateBounds> Bounds(size_t row) const {
    if (rate_bounds.empty()) return {};
    return std::span(rate_bounds).subspan(row * data.counters_per_block, data.counters_per_block);
  }
  // The shown values of a row, by event: estimates, and exact counts.
  std::span<const uint64_t> Shown(size_t row) const {
    if (estimated.empty()) return data.Counters(row);
    return std::span(estimated).subspan(row * data.counters_per_block, data.counters_per_block);
  }
  // nullopt: the count is exact, or there is no number.
  std::optional<Estimate> EstimateOf(size_t row, size_t event) const {
    return estimated.empty() ? std::nullopt : topology->rotation().Of(data, row, event);
  }
  // The share of the row's cycles in which the event was counted: its gate open, and its turn. 0: there is no number.
  double CoverageOf(size_t row, size_t event) const {
    return topology->coverage().OfCount(event, data.Counters(row)) * topology->rotation().CoverageOf(data, row, event);
  }
  // Whether the counter may be shown at all: an event that was counted in no cycle has none. The policy still decides
  // to which callers.
  bool IsShown(size_t row, size_t event) const { return MayShow(row, event) && CoverageOf(row, event) != 0; }
  // The same for its coverage, which a counter of no cycle has.
  bool MayShow(size_t row, size_t event) const {
    return !IsWithheld(row) && topology->IsShown(data.blocks[row].vm, event, device_scope_withheld);
  }
  // The row's flags for a caller who sees these of its events: kFlagEstimated only if one of them is estimated, and
  // kFlagPartial for a missed turn only if it is one of theirs.
  uint16_t FlagsOf(size_t row, const std::vector<bool>& events) const;
  bool IsFresh(absl::Duration steady_now, const DeviceInfo& device) const {
    return steady_now - steady_time <= DeviceInfo::kFreshIntervals * device.interval;
  }
};

inline uint16_t DeviceSnapshot::FlagsOf(size_t row, const std::vector<bool>& events) const {
  constexpr uint16_t kOfTurns = mailbox::kFlagEstimated | mailbox::kFlagPartial;
  const mailbox::BlockHeader& block = data.blocks[row];
  if (estimated.empty() || (block.flags & kOfTurns) == 0) return block.flags;
  uint16_t seen = topology->coverage().IsWhole(data.Counters(row)) ? 0 : mailbox::kFlagPartial;
  for (size_t event = 0; event < events.size() && event < data.counters_per_block && seen != kOfTurns; ++event) {
    if (!events[event] || !MayShow(row, event)) continue;
    if (!topology->rotation().IsWhole(data, row, event)) seen |= mailbox::kFlagPartial;
    if (CoverageOf(row, event) != 0 && EstimateOf(row, event)) seen |= mailbox::kFlagEstimated;
  }
  return static_cast<uint16_t>(block.flags & (~kOfTurns | seen));
}

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SNAPSHOT_DEVICE_SNAPSHOT_H_
