// SPDX-License-Identifier: Apache-2.0
//
// The parts of a board besides its chip, and its state since its start: errors of its memories and links, its driver's
// messages and events. Every part is absent unless the chip file names it, and then SMBPBI announces it
// (chip_file/README.md, key `board`). The faults of a plan (sim/bus) add to the state, only a new start clears it, and
// the firmware's commands read it. Both sets of registers show the same board.
//   BoardSpec spec{.name = "Example", .thermal = ThermalLimits{}, .nvlink = NvlinkSpec{.count = 4}};
//   BoardState state(spec);
//   state.dram.uncorrected += 1;
//   state.Raise(mailbox::BoardEvent::kNewDriverEvent);
//   if (IsPossible(fault, spec)) Apply(fault, state, now);
//
//   state.driver.Append({.xid = 79, .time_s = now, .text = "GPU has fallen off the bus"});
//   while (const auto event = state.driver.TakeOldest()) Show(*event);
//
//   const auto limits = ModuleLimits(spec);
//   if (limits && module_mw > InForceMw(*limits, state.module_limit)) LowerClock();
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_BOARD_STATE_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_BOARD_STATE_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "proto/mailbox/board_items.h"
#include "proto/mailbox/capability.h"
#include "proto/mailbox/memory_links.h"
#include "proto/mailbox/services.h"
#include "sim/bus/board_fault.h"

namespace sideband::mcu {

// Degrees Celsius. Over the two slowdowns the clock is lowered, in steps, until the temperature is below again.
struct ThermalLimits {
  double target_c = 83;             // that fans aim at
  double software_slowdown_c = 87;  // by the driver
  double slowdown_c = 92;           // by the hardware, to the lowest level at once
  double shutdown_c = 97;
  double memory_slowdown_c = 95;
};

// Milliwatts. Over the limit in force the clock is lowered.
struct PowerLimits {
  uint32_t least_mw = 100'000;
  uint32_t most_mw = 400'000;
  uint32_t default_mw = 350'000;
};

// The memory's part of the board's power, and its own temperature.
struct MemorySensorSpec {
  std::vector<std::string> events;  // whose energy is the memory's
  double idle_mw = 0;
  double c_per_watt = 0.3;
};

// The generations of GET_ECC, of which a board has one.
enum class EccGeneration : uint8_t { kV2 = 2, kV3 = 3, kV4 = 4, kV5 = 5, kV6 = 6 };

struct NvlinkSpec {
  uint8_t count = 0;  // 1 to 32
  uint32_t mbps = 25'000;
};

struct PcieSpec {
  uint8_t generation = 4;  // 1 to 5
  uint8_t lanes = 16;      // 1, 2, 4, 8, 16 or 32
};

struct BoardSpec {
  std::string name;  // as marketed; at most 24 characters are shown
  std::optional<ThermalLimits> thermal;
  std::optional<PowerLimits> power_limit;
  std::optional<double> module_overhead_mw;  // the module's power beyond the board's
  std::optional<MemorySensorSpec> memory;
  uint32_t throttled_domain = 0;  // the domain whose levels are the clock's (UlcSpec::domain); 0: it is never lowered
  std::optional<EccGeneration> ecc;
  bool row_remapping = false;
  bool page_retirement = false;
  std::optional<NvlinkSpec> nvlink;
  std::optional<PcieSpec> pcie;
  bool power_connector = false;  // that tells whether its power suffices
  bool write_protection = false;
  bool driver_events = false;
  bool bundles = false;
};

// The driver's messages in order, bounded: a full queue loses the newest ones, and says so in the record before them.
// Not thread-safe.
class DriverMessages {
 public:
  static constexpr size_t kKept = 32;

  // Gives the message its sequence number, from 1 on. Numbers of lost messages are used up.
  void Append(mailbox::DriverEvent event);

  bool empty() const { return events_.empty(); }
  // Removes it.
  std::optional<mailbox::DriverEvent> TakeOldest();
  // The first one with this sequence number or a later one; with this time or a later one. They stay.
  std::optional<mailbox::DriverEvent> FindFrom(uint32_t sequence) const;
  std::optional<mailbox::DriverEvent> FindSince(uint32_t time_s) const;

 private:
  uint32_t last_ = 0;
  std::deque<mailbox::DriverEvent> events_;
};

struct EccErrors {
  uint32_t corrected = 0, uncorrected = 0;
};

struct RowRemaps {
  uint32_t corrected = 0, uncorrected = 0;  // rows remapped for such errors
  bool is_pending = false;                  // until a reset
  bool has_failed = false;
  mailbox::RemapHistogram banks;
};

struct RetiredPages {
  uint8_t single_bit = 0, double_bit = 0;
};

struct NvlinkErrors {
  bool is_up = true;
  bool has_training_error = false, has_runtime_error = false;
  uint32_t replays = 0, recoveries = 0, flit_crc = 0, data_crc = 0;
};

struct PcieErrors {
  uint8_t non_fatal = 0, fatal = 0, unsupported = 0;
  uint16_t correctable = 0;
  uint32_t recoveries = 0, replays = 0;
  uint16_t replay_rollovers = 0, naks_received = 0, naks_sent = 0;
};

// A limit of the board's power, or of the module's.
struct PowerLimitState {
  std::optional<uint32_t> asked_mw;  // by a controller
};

// Not thread-safe.
struct BoardState {
  // Every link is up, and every bank has all its spare rows.
  explicit BoardState(const BoardSpec& spec);

  // Counts an event for every set of registers, each of which has pending bits of its own (EventRegisters).
  void Raise(mailbox::BoardEvent event) { ++raised[static_cast<size_t>(event)]; }

  EccErrors sram, dram;
  bool sram_threshold_exceeded = false;
  RowRemaps rows;
  RetiredPages pages;
  std::vector<NvlinkErrors> nvlinks;  // by link
  PcieErrors pcie;
  PowerLimitState power_limit, module_limit;
  // Time of a lowered clock since the start, by Violation.
  std::array<uint64_t, mailbox::kViolationCount> violation_ns = {};
  uint32_t throttle_reasons = 0;  // now: bits of ThrottleReason
  bool power_is_insufficient = false;
  bool reset_required = false, drain_recommended = false;
  bool is_write_protected = false;
  std::set<mailbox::Capability> lost;  // that the board no longer announces; their commands are ERR_NOT_SUPPORTED
  DriverMessages driver;
  std::array<uint32_t, std::size(mailbox::kBoardEvents)> raised = {};  // how often, by BoardEvent
};

// The limits of a board's power, plus the module's power beyond the board's; nullopt if one of the two is not
// configured. Saturates below mailbox::kNoLimit, which is no limit.
inline std::optional<PowerLimits> ModuleLimits(const BoardSpec& spec) {
  if (!spec.power_limit || !spec.module_overhead_mw) return std::nullopt;
  const auto with_overhead = [&](uint32_t mw) {
    constexpr double kMost = std::numeric_limits<uint32_t>::max() - 1;
    return static_cast<uint32_t>(std::clamp(std::round(mw + *spec.module_overhead_mw), 0.0, kMost));
  };
  return PowerLimits{.least_mw = with_overhead(spec.power_limit->least_mw),
                     .most_mw = with_overhead(spec.power_limit->most_mw),
                     .default_mw = with_overhead(spec.power_limit->default_mw)};
}

// The limit that a controller has asked for, or the default.
inline uint32_t InForceMw(const PowerLimits& limits, const PowerLimitState& state) {
  return state.asked_mw.value_or(limits.default_mw);
}

// Whether the board has the part that fails: a memory with ECC, the link, a driver with messages. Every board can
// require a reset, lack power and lose a capability.
bool IsPossible(const sim::BoardFault& fault, const BoardSpec& spec);

// `now_s` is the time of a driver's message, in seconds since 1970. Counters stay at the maximum of their type. A link
// that the board does not have is ignored; the other parts are not checked (IsPossible).
void Apply(const sim::BoardFault& fault, BoardState& state, uint32_t now_s);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_BOARD_STATE_H_
