// SPDX-License-Identifier: Apache-2.0
//
// Triggers: the block that numbers and schedules them, and the central scheduler that makes their reference packets.
//
//   TriggerBlock triggers(65'536);
//   if (const auto id = triggers.FireDue(cycle)) SwapBanks(*id);
//
//   Scheduler scheduler({.id = 7, .reference_delay = 40});
//   scheduler.SetBookmark(0xB00C);
//   if (scheduler.IsSelected(TriggerCause::kGrid, row)) monitor.Receive(sent);
//   const ReferencePacket packet = scheduler.Make({.number = 5, .cycle = 501'200, .time_ns = 501'200});
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_TRIGGER_BLOCK_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_TRIGGER_BLOCK_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "secure_mcu/pipeline/clock_packets.h"
#include "sim/wires/domain_clock.h"

namespace sideband::mcu {

// Causes of a bank swap.
enum class TriggerKind : uint8_t {
  kPeriodic,
  kRegisterWrite,  // by the firmware, including latches
  kExternal,       // a pin
  kGrid,           // of the grid that the firmware sets
  kThreshold,      // a counter of one unit reached its threshold; swaps that unit only
};

// Trigger block: numbers the triggers, schedules those of its grids, and collects flush acknowledgements. (pipeline.md,
// "Context switch"; patent text, paragraphs 61, 71-74.)
// The multiples of a period, in cycles; of period 0 there are none. Not thread-safe.
class TriggerGrid {
 public:
  // From the first multiple after `cycle` on.
  explicit TriggerGrid(uint64_t period, uint64_t cycle = 0) : period_(period) { Pass(cycle); }
  // UINT64_MAX if there is none.
  uint64_t next() const { return next_; }
  // Goes on to the first multiple after `cycle`, however late that is.
  void Pass(uint64_t cycle);

 private:
  uint64_t period_;
  uint64_t next_ = 0;
};

// Not thread-safe.
class TriggerBlock {
 public:
  // A periodic trigger every `period` cycles, the first at cycle `period`; 0: none.
  explicit TriggerBlock(uint64_t period) : periodic_(period), grid_(0) {}

  // Counts a trigger and returns its number; numbers start at 1. A threshold trigger takes no number and carries the
  // newest one: numbers are visible to every tenant and must not reveal the counting rate of another tenant.
  uint32_t Fire(TriggerKind kind);
  uint32_t last_id() const { return last_id_; }
  // How many triggers of that kind have fired.
  uint64_t fired(TriggerKind kind) const;

  // Further triggers at the multiples of `period` after `cycle`, in place of those of the grid before; 0: none.
  void SetGrid(uint64_t period, uint64_t cycle) { grid_ = TriggerGrid(period, cycle); }
  bool has_grid() const { return grid_.next() != UINT64_MAX; }
  // The cycle of the next trigger of a grid, the periodic one or that of SetGrid; UINT64_MAX if there is none.
  uint64_t next_due() const { return std::min(periodic_.next(), grid_.next()); }
  // Counts what is due at or before `cycle`. Returns the newest number; nullopt if nothing was due. Triggers that fall
  // due together have a number each, and swap the banks once.
  std::optional<uint32_t> FireDue(uint64_t cycle);

  // The flush register: each request adds a unit that must acknowledge.
  void RequestFlush(uint16_t ccu) { awaited_.insert(ccu); }
  void Acknowledge(uint16_t ccu) { awaited_.erase(ccu); }
  // Polled by the firmware.
  bool AllAcknowledged() const { return awaited_.empty(); }

 private:
  TriggerGrid periodic_, grid_;
  uint32_t last_id_ = 0;
  std::map<TriggerKind, uint64_t> fired_;
  std::set<uint16_t> awaited_;
};

// The central scheduler's packets: for each trigger that it sends, the reference time, and a bookmark that it holds
// until another replaces it. The numbers and the grid are the trigger block's. (clocks.md, "Mechanism")
// Not thread-safe.
class Scheduler {
 public:
  struct Config {
    uint16_t id = 0;                                // given from outside
    uint64_t reference_delay = 0;                   // reference cycles between a trigger and its packet
    std::shared_ptr<const sim::DomainClock> clock;  // in which it runs; null: the reference clock
  };
  explicit Scheduler(Config config) : config_(std::move(config)) {}

  // Bit r: the monitor of row r answers to commanded triggers and to the grid's. Initially all do.
  void Select(uint64_t rows) { selected_ = rows; }
  uint64_t selected() const { return selected_; }
  bool IsSelected(TriggerCause cause, size_t row) const { return !IsNarrowed(cause) || (selected_ >> row & 1) != 0; }

  // Sets the bookmark of every packet from now on.
  void SetBookmark(std::optional<uint32_t> bookmark) { bookmark_ = bookmark; }

  // The packet of a trigger: `sent`, with what the scheduler adds.
  ReferencePacket Make(ReferencePacket sent) const {
    sent.scheduler = config_.id;
    sent.bookmark = bookmark_;
    sent.made = sent.cycle + config_.reference_delay;
    if (config_.clock) sent.local_clock = config_.clock->EdgesBefore(sim::InstantAtCycle(sent.cycle) + 1);
    return sent;
  }

 private:
  const Config config_;
  uint64_t selected_ = ~uint64_t{0};
  std::optional<uint32_t> bookmark_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_TRIGGER_BLOCK_H_
