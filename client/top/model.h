// SPDX-License-Identifier: Apache-2.0
//
// The model of `sideband top`: the newest state of all devices, VMs, contexts, events and boards, and their last
// minute.
//   Model model;
//   model.Apply(snapshot, absl::Now());
//   for (const auto& [name, device] : model.devices()) Show(name, device.StateAt(now));
#ifndef SIDEBAND_CLIENT_TOP_MODEL_H_
#define SIDEBAND_CLIENT_TOP_MODEL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "sideband/v1/sensors.pb.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::client::top {

// The values of the last minute, one a second.
class Minute {
 public:
  static constexpr size_t kSeconds = 60;

  Minute();
  // The newest value of a second replaces an earlier one. Values older than a minute before the newest are dropped.
  void Add(absl::Time time, double value);
  // kSeconds values, the oldest first, up to the second of `now`. A value holds for `hold`, until the next one comes;
  // NaN elsewhere.
  std::vector<double> Until(absl::Time now, absl::Duration hold) const;

 private:
  std::array<float, kSeconds> values_;  // by second modulo kSeconds
  int64_t newest_ = 0;                  // seconds since 1970
};

// The state of a device's board. A value that is unknown is absent.
struct BoardEntry {
  std::optional<double> celsius, margin_celsius;  // of the GPU
  std::optional<double> watts, limit_watts;       // of the whole board
  std::optional<double> clock_hz;                 // of graphics
  std::vector<std::string> throttles;             // reasons that are active
  bool needs_action = false;                      // a reset, a drain, or the replacement of a row is due
};

BoardEntry BoardOf(const v1::DeviceSensors& device);

// At most 12 cells for what boards have; empty if nothing is known.
std::string BriefText(const BoardEntry& board);
// "82.0 °C, 8.0 below its limit, 214.6 of 400 W, 700 MHz, throttled: software_thermal".
std::string LongText(const BoardEntry& board);

// One event of a scope.
struct EventEntry {
  std::string name;
  uint64_t count = 0;
  std::optional<double> rate;      // per second
  std::optional<double> share;     // utilisation, from 0 to 1
  std::optional<double> coverage;  // of the count, if the event is in a gate group; NaN: unknown
  bool is_estimate = false;
  Minute minute;  // of the utilisation if there is one, otherwise of the rate
};

// The device as a whole, the hypervisor on a slice, a VM, or a context.
struct ScopeEntry {
  v1::Scope scope;
  std::string state;  // "active", "idle", "retired"; "sealed" for a confidential VM, which has no events
  std::vector<std::string> flags;
  std::vector<EventEntry> events;  // as in the device's catalogue

  const EventEntry* Find(const std::string& event) const;
};

// VM (VmText of render.h) and context; empty as in v1::Scope.
using ScopeName = std::pair<std::string, std::string>;

struct DeviceEntry {
  v1::Device::State listed = v1::Device::STATE_UNSPECIFIED;
  absl::Duration interval;
  uint64_t boot_id = 0;
  uint64_t clock_hz = 0;
  absl::Time since = absl::InfiniteFuture();  // from then on snapshots are counted
  absl::Time heard = absl::InfinitePast();    // the newest snapshot was latched
  std::deque<absl::Time> arrivals;            // of the snapshots of the last minute
  std::map<ScopeName, ScopeEntry> scopes;
  bool has_board = false;           // whether the caller sees sensors of its board
  bool is_board_alone = false;      // no snapshot comes of it
  bool is_sampled = false;          // snapshots come less often than the bus brings them
  std::optional<BoardEntry> board;  // absent while there are none

  v1::Device::State StateAt(absl::Time now) const;
  // Whether the snapshots that come tell how often the bus is read.
  bool ShowsReads() const { return !is_board_alone && !is_sampled; }
  // The share of the intervals of the last minute in which the bus brought a snapshot; nullopt within the first ones,
  // and if ShowsReads() is false.
  std::optional<double> ReadsAt(absl::Time now) const;
};

struct ModelOptions {
  std::vector<std::string> devices;  // names, or patterns (client/cli/options.h), of those that are kept; empty: all
  absl::Duration sample_interval;    // between two snapshots of a device, if it is longer than the device's own
};

// Copyable; not thread-safe. `now` is the caller's clock: it never has to agree with the daemon's.
class Model {
 public:
  Model() = default;
  explicit Model(ModelOptions options) : options_(std::move(options)) {}

  // Removes devices that are not listed.
  void Apply(const v1::ListDevicesResponse& response, absl::Time now);
  // Adds the confidential VMs, of which there are no counters.
  void Apply(const v1::ListScopesResponse& response);
  // Replaces what is known of all boards.
  void Apply(const v1::GetSensorsResponse& response);
  // Replaces the scopes of a device.
  void Apply(const v1::Snapshot& snapshot, absl::Time now);

  const std::map<std::string, DeviceEntry>& devices() const { return devices_; }
  bool HasBoard() const;
  // All events that have occurred in a snapshot, in the order of their first.
  const std::vector<std::string>& events() const { return events_; }

  // One line about the connection; empty while it is open.
  std::string connection;
  // Whether the daemon has sent all that it knows.
  bool is_synced = false;

 private:
  ModelOptions options_;
  std::map<std::string, DeviceEntry> devices_;
  std::vector<std::string> events_;
};

}  // namespace sideband::client::top

#endif  // SIDEBAND_CLIENT_TOP_MODEL_H_
