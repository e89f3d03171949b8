// SPDX-License-Identifier: Apache-2.0
//
// The configured devices, their transports and collectors, and the history of what they have counted. A reload may
// change all of it.
//   SIDEBAND_ASSIGN_OR_RETURN(DeviceTransport to, MakeDeviceTransport(config.devices[0], i2c_dev, clock));
//   KeptHistory history(config.history, store, boards, *metrics);
//   DeviceSet devices({store, boards, history, counting, marks, *metrics, clock, make_transport, make_collector});
//   SIDEBAND_ASSIGN_OR_RETURN(DeviceSet::Prepared prepared, devices.Prepare(config.devices));
//   const DeviceSet::Common common{config.ratios.ratios, config.peek.bus_share, config.exposition.estimates};
//   for (const std::string& line : devices.Apply(config.devices, common, std::move(prepared))) Log(line);
//   devices.Start();
//   devices.Stop();
#ifndef SIDEBAND_DAEMON_DEVICE_SET_H_
#define SIDEBAND_DAEMON_DEVICE_SET_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/base/clock.h"
#include "daemon/board/board_store.h"
#include "daemon/collector/collector_thread.h"
#include "daemon/config/config.h"
#include "daemon/config/device_config.h"
#include "daemon/counting/counting_book.h"
#include "daemon/counting/mark_book.h"
#include "daemon/history/history.h"
#include "daemon/history/sensor_history.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/snapshot/ratio.h"
#include "daemon/snapshot/store.h"
#include "daemon/transport/bus_transport.h"
#include "daemon/transport/transport.h"

namespace sideband::daemon {

// The transport of a configured device, and the address of the device on its bus.
struct DeviceTransport {
  std::unique_ptr<Transport> transport;
  uint8_t address;
};

// If a capture is configured, the transport also writes the capture file, and a warning that it is plaintext is logged.
// `i2c_dev` and `clock` must outlive the result. INVALID_ARGUMENT for a malformed bus name; otherwise the capture
// file's error.
absl::StatusOr<DeviceTransport> MakeDeviceTransport(const DeviceConfig& device, I2cDev& i2c_dev, const Clock& clock);

// Attaches a history of counters and one of sensors to the stores for its lifetime, and reports them in the metrics.
// Both together keep within one bound, of which sensors have an eighth.
//
// The stores and `metrics` must outlive this object.
class KeptHistory {
 public:
  KeptHistory(const HistoryConfig& config, Store& store, BoardStore& boards, SelfMetrics& metrics);
  ~KeptHistory();

  const History& get() const { return history_; }
  SensorHistory& sensors() { return sensors_; }
  // Applies a changed configuration.
  void Configure(const HistoryConfig& config);
  // Drops the history of a removed device. To be called after the boards' store has forgotten it.
  void Remove(size_t device);
  // Drops the history of a board that is no longer read. To be called after the store has forgotten it.
  void RemoveSensors(size_t device) { sensors_.Remove(device); }

 private:
  void ReportTo(SelfMetrics& metrics) const;

  Store& store_;
  BoardStore& boards_;
  History history_;
  SensorHistory sensors_;
};

// Used by one thread. The members of `parts` must outlive this object.
class DeviceSet {
 public:
  struct Parts {
    Store& store;
    BoardStore& boards;
    KeptHistory& history;
    CountingBook& counting;
    MarkBook& marks;
    SelfMetrics& metrics;
    const Clock& clock;
    std::function<absl::StatusOr<DeviceTransport>(const DeviceConfig& device)> make_transport;
    std::function<std::unique_ptr<CollectorThread>(size_t id, DeviceTransport to)> make_collector;
  };
  // Settings of all devices.
  struct Common {
    std::vector<RatioSpec> ratios;
    double peek_bus_share = 0;
    EstimateSeries estimates = EstimateSeries::kAll;
  };
  // The transports of new devices, by device name.
  using Prepared = std::map<std::string, DeviceTransport>;

  explicit DeviceSet(Parts parts) : parts_(std::move(parts)) {}

  // Performs the steps of a change that may fail, before anything is changed: creates the transports of devices that
  // are new or that have another bus or capture file than before.
  absl::StatusOr<Prepared> Prepare(const std::vector<DeviceConfig>& devices) const;
  // Applies the change; `prepared` must be the result of Prepare() for the same devices. A device that continues,
  // possibly with another interval, keeps its collector, counters and created times. All data of a removed device is
  // dropped. Returns one line per change.
  std::vector<std::string> Apply(const std::vector<DeviceConfig>& devices, const Common& common, Prepared prepared);
  // Starts the collectors that are not running yet.
  void Start();
  // The longest time for which a collection has made no progress (CollectorThread::Silence).
  absl::Duration Silence() const;
  // Does not block.
  void RequestStop();
  void Stop();

 private:
  struct Device {
    size_t id;
    DeviceConfig config;
    std::shared_ptr<const DeviceInfo> info;
    std::unique_ptr<CollectorThread> collector;  // nullptr: a BMC's device, which its reader publishes
    bool is_started = false;
  };

  // Whether the configured device `wanted` continues `device` rather than replacing it.
  static bool GoesOn(const DeviceConfig& device, const DeviceConfig& wanted);
  const Device* Find(const DeviceConfig& wanted) const;
  template <typename Use>
  void ForEachCollector(const Use& use) const {
    for (const auto& [name, device] : devices_) {
      if (device.collector != nullptr) use(*device.collector);
    }
  }
  void RemoveOthers(const std::vector<DeviceConfig>& devices, std::vector<std::string>& lines);
  void FollowBoard(Device& device, const BoardSettings& wanted);
  void Update(Device& device, const DeviceConfig& wanted, std::shared_ptr<const DeviceInfo> info,
              std::vector<std::string>& lines);

  const Parts parts_;
  std::map<std::string, Device> devices_;  // by name
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_DEVICE_SET_H_
