// SPDX-License-Identifier: Apache-2.0
//
// The clocks of a chip (clocks.md): its clock domains and where they are, the edges by which its units count, and the
// network that places counts on the reference clock's axis: scheduler, monitors, routers and the ring of packets. Also
// the bookmarks of its memory blocks. Domain 0 is the reference clock's; domain i + 1 is PipelineConfig::domains[i].
//   SIDEBAND_RETURN_IF_ERROR(CheckDomains(config));
//   for (const DomainRow& row : RowsOf(config)) monitors.emplace_back(MakeClock(config, row), MonitorConfig(row));
//
//   ClockNetwork network(config);                          // of a configuration with domains
//   network.scheduler().SetBookmark(7);
//   network.Send({.number = 5, .cause = TriggerCause::kLatch, .cycle = 501'200, .time_ns = 501'200}, horizons);
//   network.readings();                                    // of that latch
//   network.PacketsFrom(5, /*cycle=*/502'000);             // of all triggers from number 5 on
#ifndef SIDEBAND_SECURE_MCU_CHIP_CHIP_CLOCKS_H_
#define SIDEBAND_SECURE_MCU_CHIP_CHIP_CLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/pipeline/clock_packets.h"
#include "secure_mcu/pipeline/memory_blocks.h"
#include "secure_mcu/pipeline/trigger_block.h"
#include "sim/wires/domain_clock.h"
#include "sim/wires/wire_source.h"

namespace sideband::mcu {

// Monitors of a chip: a selection names them by bits of 64.
inline constexpr size_t kDomainRowsMax = 64;

// INVALID_ARGUMENT: the message names the domain, the field and its range. Part of Validate.
absl::Status CheckDomains(const PipelineConfig& config);

// A domain where it has units: it has a monitor there.
struct DomainRow {
  uint8_t channel;  // a slice, or kDeviceChannel
  uint32_t domain;
  auto operator<=>(const DomainRow&) const = default;
};

// The slices' in ascending order, then the device's. None without domains.
std::vector<DomainRow> RowsOf(const PipelineConfig& config);

// The clock of a domain, other than 0, on a slice or on the device: the same one everywhere if it is shared, else of
// the same specification with another phase and another wander. The configuration must be valid.
std::shared_ptr<const sim::DomainClock> MakeClock(const PipelineConfig& config, const DomainRow& row);
// The clocks of all domains, for the source of the channel's wires.
sim::LocalClocks MakeClocks(const PipelineConfig& config, uint8_t channel);

// The clocks by which a chip's units count, and how many edges each has made up to the chip's present. Each is computed
// once where the chip stops, however many units count by it. Not thread-safe.
class UnitClocks {
 public:
  explicit UnitClocks(size_t wirings) : wires_(wirings) {}

  // The number of that clock; the same for the same clock.
  size_t Add(size_t wiring, uint32_t domain);
  // `wires` must outlive it, or until others are attached there. A clock without wires is the reference clock.
  void Attach(size_t wiring, const sim::WireSource& wires, uint64_t now);
  void AdvanceTo(uint64_t cycle);
  // Clocks may make other edges than they would have made, from now on.
  void Forget();

  // The edges before the present cycle.
  uint64_t edges(size_t clock) const { return clocks_[clock].edges; }
  // The first reference cycle in (present, end] before which the clock has `edges` more edges; end if there is none.
  // Not a later one: when a threshold triggers must not depend on who else stops the chip.
  uint64_t FirstAfter(size_t clock, uint64_t edges, uint64_t end) const;

 private:
  struct Clock {
    size_t wiring;
    uint32_t domain;
    uint64_t edges = 0;  // before now_
    // A cycle that was asked for, which is often the one where the chip stops next.
    uint64_t asked = 0, edges_then = 0;
  };

  uint64_t EdgesBefore(const Clock& clock, uint64_t cycle) const;
  uint64_t Remembered(Clock& clock, uint64_t cycle) const;

  std::vector<const sim::WireSource*> wires_;
  mutable std::vector<Clock> clocks_;
  uint64_t now_ = 0;
};

// The declaration of a row: true at any time. Periods and bars are in units of 2^-16 reference cycles.
struct DomainInfo {
  std::string name;                    // the domain's; "sliceN.NAME" and "device.NAME" where it has several rows
  std::string domain_name;             // without where it is
  uint8_t channel = 0;                 // the slice, or kDeviceChannel
  uint32_t domain = 0;                 // as UlcSpec::domain
  bool is_shared = false;              // its clock is that of other slices, or of the device, too
  bool announces = false;              // its packets tell of steps and gates, or it has none
  uint64_t nominal_hz = 0;             // at the start
  uint64_t shortest = 0, longest = 0;  // local period; longest 0: it may be gated
  // The edge that a packet names is within [bar_low, bar_high] after its trigger; bar_high 0: it may be gated, and is
  // before the packet's arrival.
  uint64_t bar_low = 0, bar_high = 0;
  uint32_t wander = 0;  // as ClockLimits::wander
  bool operator==(const DomainInfo&) const = default;
};

// The blocks that place a chip's counts on the reference clock's axis, wired: the scheduler, a monitor and a router for
// each row (a clock domain on a slice, or on the device), and the ring of packets. Not thread-safe.
class ClockNetwork {
 public:
  // A valid configuration with domains.
  explicit ClockNetwork(const PipelineConfig& config);

  // By row.
  const std::vector<DomainInfo>& domains() const { return domains_; }
  std::optional<size_t> FindRow(uint8_t channel, uint32_t domain) const;
  // The row of a collection unit, whose units are in one domain; nullopt: they count by the reference clock.
  std::optional<size_t> RowOf(size_t ccu) const { return ccu_rows_[ccu]; }
  // Its selection is of rows.
  Scheduler& scheduler() { return scheduler_; }

  struct Sent {
    uint32_t number = 0;
    uint32_t count = 1;  // of numbers taken: several that fell due together are one trigger with the last
    std::optional<TriggerCause> cause;  // none: it leaves no packets
    uint64_t cycle = 0;
    uint64_t time_ns = 0;
  };
  // How far counts reach.
  struct Horizon {
    uint64_t cycles = UINT64_MAX;  // the local cycles below; beyond the clock: nothing counts
    bool late = false;             // as ClockPacket::late
  };
  // A trigger, with a horizon for each row if it leaves packets.
  void Send(const Sent& sent, std::span<const Horizon> horizons);

  // By row, the answers to the newest latch; nullopt where the clock stands still. Empty before the first one.
  const std::vector<std::optional<ClockPacket>>& readings() const { return readings_; }
  // The packets that have arrived by `cycle`, of the triggers from that number on, and those triggers themselves.
  std::vector<TriggerPackets> PacketsFrom(uint32_t number, uint64_t cycle);
  void Release(uint32_t number) { ring_.Release(number); }
  uint64_t lost_triggers() const { return ring_.lost(); }

  // Sets the frequency of a domain's clocks, wherever there is one, to a level (DomainClockSpec::levels): after the
  // returned instant, at which the clocks have made the edges of `cycle` and of every answer.
  sim::Instant StepClock(uint32_t domain, uint64_t cycle, uint64_t hz);

  // Whole return packets, for tests: from now on the routers merge what they are given. TakeReturns returns what was
  // merged since; after a latch that is all.
  void CollectReturns() { collects_ = true; }
  bool collects() const { return collects_; }
  void AddCounts(size_t row, const ReturnPacket& packet) { routers_[row].Add(packet); }
  std::vector<AggregatePacket> TakeReturns(uint64_t cycle);

 private:
  DomainInfo InfoOf(const PipelineConfig& config, const DomainRow& row, size_t rows) const;
  void Deliver(uint64_t cycle);

  const std::vector<DomainRow> rows_;
  std::vector<DomainInfo> domains_;
  std::vector<std::optional<size_t>> ccu_rows_;  // by collection unit
  Scheduler scheduler_;
  std::vector<DomainMonitor> monitors_;
  std::vector<DomainRouter> routers_;
  PacketRing ring_;
  uint32_t newest_ = 0;       // number of a trigger
  sim::Instant stepped_ = 0;  // the last step of any clock
  bool collects_ = false;
  std::vector<std::optional<ClockPacket>> readings_;
};

// A bookmark of a memory block that waits to be served (clocks.md, "Bookmarks").
struct AskedBookmark {
  uint32_t bookmark = 0;  // a controller's own value
  uint64_t asked_ns = 0;
};

// One that was served, with what was counted until then.
struct KeptBookmark {
  uint64_t number = 0;  // of all that were served, from 1
  BlockId block = 0;
  AskedBookmark asked;
  uint64_t served_ns = 0;
  std::vector<uint64_t> counters;
};

// The bookmarks that wait, and the newest of each block that were served. Not thread-safe.
class BookmarkRings {
 public:
  // A block has one at most.
  const std::map<BlockId, AskedBookmark>& pending() const { return pending_; }
  bool IsPending(BlockId block) const { return pending_.contains(block); }
  // It must have none.
  void Ask(BlockId block, const AskedBookmark& asked) { pending_.emplace(block, asked); }
  // It must have one. The oldest of the block is forgotten where it has mailbox::kBookmarksKept.
  void Serve(BlockId block, uint64_t served_ns, std::span<const uint64_t> counters);
  // Its counters begin again at 0, or are gone.
  void Forget(BlockId block);

  // Ascending by number.
  const std::vector<KeptBookmark>& kept() const { return kept_; }

 private:
  std::map<BlockId, AskedBookmark> pending_;
  std::vector<KeptBookmark> kept_;
  uint64_t served_ = 0;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_CHIP_CLOCKS_H_
