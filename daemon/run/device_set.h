// SPDX-License-Identifier: Apache-2.0
//
// The configured devices and their collectors. A reload may change them.
//   DeviceSet devices({store, boards, history, counting, marks, *metrics, clock, make_transport, make_collector});
//   SIDEBAND_ASSIGN_OR_RETURN(DeviceSet::Prepared prepared, devices.Prepare(config.devices));
//   const DeviceSet::Common common{config.ratios.ratios, config.peek.bus_share, config.exposition.estimates};
//   for (const std::string& line : devices.Apply(config.devices, common, std::move(prepared))) Log(line);
//   devices.Start();
//   devices.Stop();
#ifndef SIDEBAND_DAEMON_RUN_DEVICE_SET_H_
#define SIDEBAND_DAEMON_RUN_DEVICE_SET_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/base/clock.h"
#include "daemon/board/board_store.h"
#include "daemon/collector/collector_thread.h"
#include "daemon/config/device_config.h"
#include "daemon/counting/counting_book.h"
#include "daemon/marks/mark_book.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/run/device_transport.h"
#include "daemon/run/kept_history.h"
#include "daemon/snapshot/ratio.h"
#include "daemon/snapshot/store.h"

namespace sideband::daemon {

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
    std::unique_ptr<CollectorThread> collector;
    bool is_started = false;
  };

  // Whether the configured device `wanted` continues `device` rather than replacing it.
  static bool GoesOn(const DeviceConfig& device, const DeviceConfig& wanted);
  const Device* Find(const DeviceConfig& wanted) const;
  void RemoveOthers(const std::vector<DeviceConfig>& devices, std::vector<std::string>& lines);
  void FollowBoard(Device& device, const BoardSettings& wanted);
  void Update(Device& device, const DeviceConfig& wanted, std::shared_ptr<const DeviceInfo> info,
              std::vector<std::string>& lines);

  const Parts parts_;
  std::map<std::string, Device> devices_;  // by name
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_RUN_DEVICE_SET_H_
