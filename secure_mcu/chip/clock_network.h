// SPDX-License-Identifier: Apache-2.0
//
// The blocks that place a chip's counts on the reference clock's axis, wired: the scheduler, a monitor and a router for
// each row (a clock domain on a slice, or on the device), and the ring of packets. (clocks.md)
//   ClockNetwork network(config);                          // of a configuration with domains
//   network.scheduler().SetBookmark(7);
//   network.Send({.number = 5, .cause = TriggerCause::kLatch, .cycle = 501'200, .time_ns = 501'200}, horizons);
//   network.readings();                                    // of that latch
//   network.PacketsFrom(5, /*cycle=*/502'000);             // of all triggers from number 5 on
#ifndef SIDEBAND_SECURE_MCU_CHIP_CLOCK_NETWORK_H_
#define SIDEBAND_SECURE_MCU_CHIP_CLOCK_NETWORK_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "secure_mcu/chip/domain_rules.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/pipeline/clock_packets.h"
#include "secure_mcu/pipeline/domain_monitor.h"
#include "secure_mcu/pipeline/packet_ring.h"
#include "secure_mcu/pipeline/trigger_block.h"

namespace sideband::mcu {

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

// Not thread-safe.
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

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_CLOCK_NETWORK_H_
