// SPDX-License-Identifier: Apache-2.0
//
// The hypervisor: switches contexts on and off the slices of a chip according to a timeline, and advances the chip in
// between.
//   ScheduleTimeline timeline(residencies, tenants, /*turn_cycles=*/0);   // played once
//   Player player(*chip, timeline, sources);
//   player.PlayTo(1'000'000);
//
//   const HostPlan plan{.every = 1'000'000, .time = 50'000};
//   plan.IsHost(1'049'999);      // true
//   plan.NextChange(1'000'000);  // 1'050'000
#ifndef SIDEBAND_SECURE_MCU_CHIP_PLAYER_H_
#define SIDEBAND_SECURE_MCU_CHIP_PLAYER_H_

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "secure_mcu/chip/chip.h"
#include "sim/waveform/schedule.h"

namespace sideband::mcu {

// The time of the hypervisor on the slices: from each multiple of `every` on for `time`. A resident then makes an exit,
// and at the end an entry; a context switch in between ends the exit.
// Cycles of the reference clock. `time` is above 0 and below `every`; with `every` 0 the hypervisor never runs.
struct HostPlan {
  uint64_t every = 0;
  uint64_t time = 0;

  bool IsHost(uint64_t cycle) const { return every > 0 && cycle >= every && cycle % every < time; }
  // The first change after `cycle`.
  uint64_t NextChange(uint64_t cycle) const {
    if (every == 0) return std::numeric_limits<uint64_t>::max();
    const uint64_t turn = cycle - cycle % every;
    return IsHost(cycle) ? turn + time : turn + every;
  }
};

// A VM or a context that may be resident on a slice, by name and by memory block.
struct Tenant {
  std::string vm;
  std::string context;  // empty: the VM without a context
  Binding binding;
};

struct SwitchEvent {
  uint64_t cycle = 0;
  uint8_t slice = 0;
  std::optional<size_t> tenant;  // an index into the timeline's tenants; nullopt: the slice becomes idle
};

// From `cycle` on the hypervisor runs on the slice, or its resident again.
struct ModeEvent {
  uint64_t cycle = 0;
  uint8_t slice = 0;
  bool is_host = false;
};

// Switches in ascending order of cycle; possibly endless.
class Timeline {
 public:
  virtual ~Timeline() = default;
  // The next switch that was not popped; nullopt at the end.
  virtual std::optional<SwitchEvent> Peek() const = 0;
  virtual void Pop() = 0;
  virtual const std::vector<Tenant>& tenants() const = 0;

  // Remove: the tenant ends at `cycle` and gets no further turns. Add: the tenant returns. A recorded schedule is fixed
  // and ignores both.
  virtual void Remove(size_t /*tenant*/, uint64_t /*cycle*/) {}
  virtual void Add(size_t /*tenant*/, uint64_t /*cycle*/) {}
};

// Not thread-safe.
class Player {
 public:
  // `sources` holds the wires of each slice, which are notified of switches; nullptr: no notification. Exits and
  // entries are those of `host` on every slice and of `modes`, which ascend in their cycles. Chip, timeline and sources
  // must outlive the player.
  Player(Chip& chip, Timeline& timeline, std::vector<sim::WireSource*> sources, HostPlan host = {},
         std::vector<ModeEvent> modes = {})
      : chip_(chip), timeline_(timeline), sources_(std::move(sources)), host_(host), modes_(std::move(modes)) {}

  // Performs every switch, exit and entry up to and including `cycle`, and counts the cycles below it.
  void PlayTo(uint64_t cycle);
  // Makes every slice idle at the chip's current cycle.
  void Vacate();

 private:
  void Make(const SwitchEvent& event);
  void ChangeModesUpTo(uint64_t cycle);
  void ChangeMode(const ModeEvent& event);

  Chip& chip_;
  Timeline& timeline_;
  const std::vector<sim::WireSource*> sources_;
  const HostPlan host_;
  const std::vector<ModeEvent> modes_;
  uint64_t next_of_host_ = host_.NextChange(0);
  size_t next_mode_ = 0;  // into modes_
};

// A timeline of the residencies of a schedule (sim/waveform/schedule.h), played once or repeated endlessly.
// Back-to-back residencies of a slice make one switch.
class ScheduleTimeline final : public Timeline {
 public:
  // `tenants` must contain every VM and context of `residencies`. With `turn_cycles` not 0, the schedule restarts every
  // `turn_cycles` cycles, and a residency that extends past the end of a turn ends there.
  ScheduleTimeline(const std::vector<sim::Residency>& residencies, std::vector<Tenant> tenants, uint64_t turn_cycles);

  std::optional<SwitchEvent> Peek() const override;
  void Pop() override;
  const std::vector<Tenant>& tenants() const override { return tenants_; }

 private:
  const std::vector<Tenant> tenants_;
  const uint64_t turn_cycles_;
  std::vector<SwitchEvent> events_;  // of one turn
  size_t next_ = 0;
  uint64_t turn_start_ = 0;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_PLAYER_H_
