// SPDX-License-Identifier: Apache-2.0
//
// A board's capabilities, and its known values at an instant. Nothing is a sentinel: an unknown value is absent. Each
// group of values has the time at which its reading began, so that no value is older than its group's time says.
//   if (const auto watts = Find(reading.power.watts, PowerSource::kTotal)) Show(*watts);
//   const absl::Duration age = now.steady - reading.samples.at(BoardGroup::kPower).steady;
#ifndef SIDEBAND_DAEMON_BOARD_BOARD_READING_H_
#define SIDEBAND_DAEMON_BOARD_BOARD_READING_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "proto/mailbox/board_items.h"
#include "proto/mailbox/capability.h"
#include "proto/mailbox/memory_links.h"
#include "proto/mailbox/services.h"

namespace sideband::daemon {

// A board's capability dwords, with their numeric fields (docs/design/smbpbi-facts.md, 3.2).
struct BoardCapabilities {
  std::array<uint32_t, mailbox::kCapabilityDwords> dwords = {};

  constexpr bool Has(mailbox::Capability capability) const {
    return (dwords[mailbox::DwordOf(capability)] & mailbox::MaskOf(capability)) != 0;
  }
  constexpr bool HasAny(std::span<const mailbox::Capability> capabilities) const {
    return std::ranges::any_of(capabilities, [this](mailbox::Capability capability) { return Has(capability); });
  }
  // Whether the board announces nothing at all, as one whose capabilities are not known yet.
  constexpr bool IsEmpty() const {
    return std::ranges::all_of(dwords, [](uint32_t dword) { return dword == 0; });
  }
  // Whether temperatures have a fraction: GET_EXT_TEMP in the format s24.8.
  constexpr bool HasFractions() const { return (dwords[0] >> 8 & 0xF) == 8; }
  // Whether there is scratch memory, which results of asynchronous requests and driver messages need.
  constexpr bool HasScratch() const { return (dwords[2] >> 2 & 7) != 0; }
  bool operator==(const BoardCapabilities&) const = default;
};

// Values are read in groups (board_groups.h).
enum class BoardGroup : uint8_t {
  kCapabilities,
  kIdentity,
  kThresholds,
  kClockLimits,
  kTemperature,
  kMargin,
  kPower,
  kEnergy,
  kClocks,
  kViolations,
  kEvents,
  kDriverMessages,
  kMetrics,
  kMemory,
  kPcie,
  kNvlink,
  kDecoders,
  kFlags,
  kPowerLimits,
  kEcc,
  kRowRemaps,
  kRetiredPages,
  kPartitions,
  kMemoryActivity,
  kHealth,
};

// A count, and since when it has been counted: its first sample, or the first one after its counter restarted. It
// never falls without a later `created`.
struct RunningCount {
  uint64_t value = 0;
  absl::Time created;
  bool operator==(const RunningCount&) const = default;
};

struct WrapRule {
  int bits = 64;  // of the counter, 1 to 64
  // A counter that has fallen has wrapped if it has gained at most this; else it has restarted. Without it, half the
  // counter's range.
  std::optional<uint64_t> gain_max;
};

// One counter. Not thread-safe.
class CountUnwrapper {
 public:
  // The counter's new content; bits above those of the rule are ignored.
  const RunningCount& Add(uint64_t raw, const WrapRule& rule, absl::Time now);
  // The board was reset: the next sample starts a new count, even if it is above the last one.
  void Restart() { last_.reset(); }
  // Adds what the counter has gained since the last sample, of a board that says that alone. The first gain after the
  // start, or after Restart(), covers a time that is not known: the count then begins at 0.
  const RunningCount& AddGain(uint64_t gain, absl::Time now);
  // The last content; nullopt before the first one and after Restart().
  std::optional<uint64_t> last() const { return last_; }

 private:
  std::optional<uint64_t> last_;
  RunningCount count_;
};

// Which counter of a board: an item of a group, and of a unit such as a link.
struct CounterKey {
  BoardGroup group;
  uint16_t item = 0;
  uint16_t unit = 0;
  auto operator<=>(const CounterKey&) const = default;
};

// The counters of one board. Not thread-safe.
class CountBook {
 public:
  RunningCount Add(const CounterKey& key, uint64_t raw, int bits, absl::Time now);
  RunningCount AddGain(const CounterKey& key, uint64_t gain, absl::Time now);
  // A gain was lost: the next one starts a new count.
  void Restart(const CounterKey& key);
  // Energy in mJ of 64 bits, of which a board may fill the lower 32 alone: a fall from there is a wrap if the board
  // has used at most `watts_max` since.
  RunningCount AddEnergy(const CounterKey& key, uint64_t raw_mj, double watts_max, absl::Time now);
  void RestartAll();

 private:
  struct Entry {
    CountUnwrapper unwrapper;
    absl::Time time;  // of the last sample
  };
  std::map<CounterKey, Entry> entries_;
};

// An instant by both clocks of the host: ages are of the steady one.
struct BoardTime {
  absl::Duration steady;
  absl::Time wall;
  bool operator==(const BoardTime&) const = default;
};

struct IdentityReading {
  // Texts as they are; bytes, and numbers of vendors and devices, in hexadecimal digits. Printable, never empty.
  std::map<mailbox::SysId, std::string> items;
  std::optional<std::string> driver_version;
};

struct ThresholdReading {
  std::map<mailbox::ThermParam, double> celsius;  // of T.Limits: degrees below the limit
};

struct TemperatureReading {
  std::map<mailbox::TempSensor, double> celsius;  // without kTLimit
};

struct MarginReading {
  std::optional<double> celsius;  // T.Limit: degrees below the limit
};

struct PowerReading {
  std::map<mailbox::PowerSource, double> watts;
};

struct EnergyReading {
  std::map<mailbox::PowerSource, RunningCount> millijoules;  // kTotal and kModule
};

struct PowerLimits {
  std::optional<double> current, minimum, maximum, standard;  // W
};
struct PowerLimitReading {
  std::map<mailbox::PowerSource, PowerLimits> limits;  // kTotal and kModule
};

struct ClockReading {
  std::map<mailbox::BoardClock, double> current_mhz;
  std::optional<uint8_t> performance_state;  // 0 to 14
  std::optional<uint32_t> throttle_active;   // bits of ThrottleReason
};
struct ClockLimitReading {
  std::map<mailbox::BoardClock, double> minimum_mhz, maximum_mhz;
  std::optional<uint32_t> throttle_supported;  // bits of ThrottleReason
};

// The limit that slows a GPU, as Redfish names it.
enum class SpeedLimit : uint8_t { kPower, kThermal, kHardware, kSoftware };
struct ViolationReading {
  std::map<mailbox::Violation, RunningCount> counts;  // of an SMBPBI board, in a unit that is not public
  std::map<SpeedLimit, RunningCount> milliseconds;    // of a GPU behind a BMC
};

struct MemoryReading {
  std::optional<uint32_t> used_mib, reserved_mib, total_mib;
};

struct EccReading {
  std::map<mailbox::EccMemory, RunningCount> corrected, uncorrected;
  std::optional<bool> sram_threshold_exceeded;
};

struct RowRemapReading {
  std::optional<RunningCount> corrected, uncorrected;
  bool has_excess = false;  // there were more than a count can say
  std::optional<bool> is_pending, has_failed;
  std::optional<mailbox::RemapHistogram> banks;
};

struct RetiredPageReading {
  std::optional<uint8_t> single_bit, double_bit;
};

struct PcieReading {
  std::optional<uint8_t> generation, target_generation;  // 1 to 5
  std::optional<uint8_t> lanes;                          // 1 to 32
  std::optional<RunningCount> non_fatal, fatal, unsupported, correctable, recoveries, replays, replay_rollovers,
      naks_received, naks_sent;
};

struct NvlinkStatus {
  std::optional<bool> is_up;
  std::optional<mailbox::NvlinkState> state;  // where the board says more than up and down
  std::optional<uint64_t> bits_per_second;
  std::optional<bool> has_training_error, has_runtime_error;
  std::optional<RunningCount> replays, recoveries, flit_crc, data_crc;
  // Bytes since the reader's start, of the data alone, and with the protocol (raw).
  std::optional<RunningCount> data_tx, data_rx, raw_tx, raw_rx;
  // Bytes per second between the two latest captures of metrics, likewise.
  std::optional<double> data_tx_rate, data_rx_rate, raw_tx_rate, raw_rx_rate;
  // Of a GPU behind a BMC, which does not say whether bytes are with the protocol.
  std::optional<RunningCount> downs, symbol_errors, receive_errors, tx, rx;
};
struct NvlinkReading {
  std::vector<NvlinkStatus> links;  // by number; at most kNvlinksMax
};

struct DecoderReading {
  // 0 to 1, by metric (kNvdecPerInstance, kNvjpgPerInstance) and number.
  std::map<std::pair<mailbox::MetricId, uint8_t>, double> ratios;
};

struct FlagReading {
  std::map<mailbox::MiscFlag, bool> flags;
  std::optional<uint8_t> fabric_manager;  // 0 not running, 1 running, 2 timeout, 3 error
  std::optional<bool> write_protected;
};

struct EventReading {
  // Since the reader's start. Every event has an entry, once the register has been read.
  std::map<mailbox::BoardEvent, RunningCount> counts;
};

struct DriverMessageReading {
  static constexpr size_t kMessagesMax = 64;
  static constexpr size_t kXidsMax = 128;
  // The newest ones, oldest first.
  std::deque<mailbox::DriverEvent> messages;
  // Since the reader's start, by Xid; of Xids for which there was no room, in `other`.
  std::map<uint16_t, RunningCount> counts;
  RunningCount other;
  uint64_t taken = 0;  // all so far: the newest one's position

  // Counts and keeps a message that has come at `now`.
  void Take(const mailbox::DriverEvent& message, absl::Time now);
};

// The scope of a metric: the whole device, a partition (GPU instance), or one of its compute instances.
struct MetricScope {
  std::optional<uint8_t> partition;         // 0 to 63
  std::optional<uint8_t> compute_instance;  // 0 to 7, only with a partition
  auto operator<=>(const MetricScope&) const = default;
};
struct MetricValues {
  std::map<mailbox::MetricId, double> ratios;            // 0 to 1
  std::map<mailbox::MetricId, double> bytes_per_second;  // links
};
struct MetricReading {
  std::map<MetricScope, MetricValues> scopes;
};

struct PartitionReading {
  static constexpr size_t kScopesMax = 64;
  std::vector<MetricScope> scopes;  // that exist, besides the whole device
};

// The health of a GPU as its BMC judges it, by the words of Redfish.
enum class BoardHealth : uint8_t { kOk, kWarning, kCritical };
struct HealthReading {
  std::optional<BoardHealth> worst;
};

// Immutable once published.
struct BoardReading {
  BoardCapabilities capabilities;
  std::map<BoardGroup, BoardTime> samples;  // of groups that have been read

  IdentityReading identity;
  ThresholdReading thresholds;
  ClockLimitReading clock_limits;
  TemperatureReading temperature;
  MarginReading margin;
  PowerReading power;
  EnergyReading energy;
  ClockReading clocks;
  ViolationReading violations;
  EventReading events;
  DriverMessageReading driver_messages;
  MetricReading metrics;
  MemoryReading memory;
  PcieReading pcie;
  NvlinkReading nvlink;
  DecoderReading decoders;
  FlagReading flags;
  PowerLimitReading power_limits;
  EccReading ecc;
  RowRemapReading row_remaps;
  RetiredPageReading retired_pages;
  PartitionReading partitions;
  HealthReading health;
};

// When a group was last read; nullopt if none was.
std::optional<BoardTime> NewestSample(const BoardReading& reading);

template <typename Key, typename Value>
std::optional<Value> Find(const std::map<Key, Value>& values, const Key& key) {
  const auto found = values.find(key);
  return found == values.end() ? std::nullopt : std::optional<Value>(found->second);
}

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_BOARD_READING_H_
