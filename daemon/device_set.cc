// SPDX-License-Identifier: Apache-2.0
#include "daemon/device_set.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "daemon/transport/bus_transport.h"
#include "daemon/transport/transport.h"
#include "proto/base/status_macros.h"
#include "proto/smbus/bus_name.h"

namespace sideband::daemon {
namespace {

std::unique_ptr<Transport> MakeTransport(const smbus::BusName& bus, I2cDev& i2c_dev) {
  switch (bus.kind) {
    case smbus::BusName::Kind::kUnix:
      return std::make_unique<UnixBusTransport>(bus.path, UnixBusTransport::Options{});
    case smbus::BusName::Kind::kI2c:
      return std::make_unique<I2cDevTransport>(bus.path, i2c_dev, I2cDevTransport::Options{});
  }
  return nullptr;
}

// Above a capture, which has what is on the bus.
std::unique_ptr<Transport> WithPec(const DeviceConfig& device, std::unique_ptr<Transport> transport) {
  if (device.has_pec) return transport;
  return std::make_unique<NoPecTransport>(std::move(transport));
}

// Returns `transport`, wrapped in a CapturingTransport if a capture is configured.
absl::StatusOr<std::unique_ptr<Transport>> Captured(const DeviceConfig& device, std::unique_ptr<Transport> transport,
                                                    const Clock& clock) {
  if (device.capture_file.empty()) return transport;
  SIDEBAND_ASSIGN_OR_RETURN(auto capturing,
                            CapturingTransport::Create(std::move(transport), device.capture_file, clock,
                                                       [name = device.name](const absl::Status& status) {
                                                         spdlog::warn("device {}: capture ended: {}", name,
                                                                      std::string(status.message()));
                                                       }));
  spdlog::warn("device {}: bus transactions are captured in the clear in {}", device.name, device.capture_file);
  return capturing;
}

// A board's sensors are few beside the counters of its VMs.
constexpr size_t kSensorsPart = 8;

size_t BytesOfSensors(const HistoryConfig& config) { return config.max_bytes / kSensorsPart; }
size_t BytesOfCounters(const HistoryConfig& config) { return config.max_bytes - BytesOfSensors(config); }

std::string Described(const DeviceConfig& device) {
  return absl::StrCat("every ", absl::FormatDuration(device.interval),
                      device.bus_hz == 0 ? "" : absl::StrCat(" at ", device.bus_hz, " Hz"));
}

}  // namespace

absl::StatusOr<DeviceTransport> MakeDeviceTransport(const DeviceConfig& device, I2cDev& i2c_dev, const Clock& clock) {
  SIDEBAND_ASSIGN_OR_RETURN(const smbus::BusName bus, smbus::ParseBusName(device.bus));
  SIDEBAND_ASSIGN_OR_RETURN(auto transport, Captured(device, MakeTransport(bus, i2c_dev), clock));
  return DeviceTransport{WithPec(device, std::move(transport)), bus.address};
}

KeptHistory::KeptHistory(const HistoryConfig& config, Store& store, BoardStore& boards, SelfMetrics& metrics)
    : store_(store),
      boards_(boards),
      history_({.max_bytes = BytesOfCounters(config)}),
      sensors_({.max_bytes = BytesOfSensors(config)}) {
  store_.AddListener(history_);
  boards_.AddListener(sensors_);
  metrics.SetUpdate([this](SelfMetrics& of) { ReportTo(of); });
}

KeptHistory::~KeptHistory() {
  store_.RemoveListener(history_);
  boards_.RemoveListener(sensors_);
}

void KeptHistory::Configure(const HistoryConfig& config) {
  history_.SetMaxBytes(BytesOfCounters(config));
  sensors_.SetMaxBytes(BytesOfSensors(config));
}

void KeptHistory::Remove(size_t device) {
  history_.Remove(device);
  sensors_.Remove(device);
}

void KeptHistory::ReportTo(SelfMetrics& metrics) const {
  const size_t of_sensors = sensors_.bytes();
  metrics.HistoryHeld(history_.bytes() + of_sensors, history_.max_bytes() + sensors_.max_bytes());
  metrics.SensorHistoryHeld(of_sensors);
  if (history_.max_bytes() == 0) return;
  const auto listed = store_.devices();
  for (const auto& [id, info] : *listed) {
    metrics.HistorySpan(info->name, history_.Span(id));
    if (boards_.SettingsOf(id).is_read) metrics.SensorHistorySpan(info->name, sensors_.Span(id));
  }
}

bool DeviceSet::GoesOn(const DeviceConfig& device, const DeviceConfig& wanted) {
  return device.name == wanted.name && device.bus == wanted.bus && device.capture_file == wanted.capture_file &&
         device.has_pec == wanted.has_pec && device.bmc == wanted.bmc;
}

const DeviceSet::Device* DeviceSet::Find(const DeviceConfig& wanted) const {
  const auto found = devices_.find(wanted.name);
  return found != devices_.end() && GoesOn(found->second.config, wanted) ? &found->second : nullptr;
}

absl::StatusOr<DeviceSet::Prepared> DeviceSet::Prepare(const std::vector<DeviceConfig>& devices) const {
  Prepared prepared;
  for (const DeviceConfig& device : devices) {
    if (Find(device) != nullptr || !device.bmc.empty()) continue;
    SIDEBAND_ASSIGN_OR_RETURN(DeviceTransport transport, parts_.make_transport(device));
    prepared.emplace(device.name, std::move(transport));
  }
  return prepared;
}

void DeviceSet::RemoveOthers(const std::vector<DeviceConfig>& devices, std::vector<std::string>& lines) {
  const auto stays = [&](const Device& device) {
    return std::ranges::any_of(devices, [&](const DeviceConfig& wanted) { return GoesOn(device.config, wanted); });
  };
  // All collectors are asked to stop before the first join, so that unresponsive devices time out in parallel.
  for (const auto& [name, device] : devices_) {
    if (!stays(device) && device.collector != nullptr) device.collector->RequestStop();
  }
  for (auto at = devices_.begin(); at != devices_.end();) {
    if (stays(at->second)) {
      ++at;
      continue;
    }
    if (at->second.collector != nullptr) at->second.collector->Stop();
    parts_.boards.Forget(at->second.id);
    parts_.history.Remove(at->second.id);
    parts_.marks.Forget(at->second.id);
    // Settings that are pending for it must not be committed to a device that takes its name.
    parts_.counting.Forget(at->first);
    parts_.metrics.ForgetCounting(at->first);
    // A device that is replaced under its name is reported by Apply() as reopened.
    const bool has_name = std::ranges::any_of(devices, [&](const auto& wanted) { return wanted.name == at->first; });
    if (!has_name) lines.push_back(absl::StrCat("device ", at->first, ": removed"));
    at = devices_.erase(at);
  }
}

void DeviceSet::Update(Device& device, const DeviceConfig& wanted, std::shared_ptr<const DeviceInfo> info,
                       std::vector<std::string>& lines) {
  const bool is_other_pace = device.config.interval != wanted.interval || device.config.bus_hz != wanted.bus_hz;
  if (is_other_pace) {
    lines.push_back(
        absl::StrCat("device ", wanted.name, ": ", Described(wanted), " instead of ", Described(device.config)));
  }
  if (device.config.rotation != wanted.rotation) {
    const std::string from = wanted.rotation ? absl::StrCat(" from ", wanted.rotation->path) : "";
    lines.push_back(
        absl::StrCat("device ", wanted.name, ": ", wanted.rotation ? "rotation" : "no rotation file", from));
  }
  if (device.config.clocks != wanted.clocks) lines.push_back(absl::StrCat("device ", wanted.name, ": clocks"));
  if (device.config.complement != wanted.complement) {
    lines.push_back(absl::StrCat("device ", wanted.name, ": complement"));
  }
  if (device.config.sealed_by != wanted.sealed_by) lines.push_back(absl::StrCat("device ", wanted.name, ": sealing"));
  device.config = wanted;
  device.info = std::move(info);
}

void DeviceSet::FollowBoard(Device& device, const BoardSettings& wanted) {
  device.config.board = wanted;
  // A board that is no longer read is no longer shown.
  if (!wanted.is_read) {
    parts_.boards.Forget(device.id);
    parts_.history.RemoveSensors(device.id);
  }
  parts_.boards.SetSettings(device.id, wanted);
}

std::vector<std::string> DeviceSet::Apply(const std::vector<DeviceConfig>& devices, const Common& common,
                                          Prepared prepared) {
  std::vector<std::string> lines, before;
  for (const auto& [name, device] : devices_) before.push_back(name);
  RemoveOthers(devices, lines);
  DeviceList list;
  for (const DeviceConfig& wanted : devices) {
    auto info = std::make_shared<const DeviceInfo>(DeviceInfo{.name = wanted.name,
                                                              .interval = wanted.interval,
                                                              .bus_hz = wanted.bus_hz,
                                                              .peek_bus_share = common.peek_bus_share,
                                                              .ratios = common.ratios,
                                                              .estimates = common.estimates,
                                                              .rotation = wanted.rotation,
                                                              .clocks = wanted.clocks,
                                                              .complement = wanted.complement,
                                                              .sealed_by = wanted.sealed_by,
                                                              .is_of_bmc = !wanted.bmc.empty()});
    const auto known = devices_.find(wanted.name);
    if (known != devices_.end() && known->second.config.board != wanted.board) {
      lines.push_back(absl::StrCat("device ", wanted.name, ": board"));
    }
    if (known == devices_.end()) {
      const bool is_new = std::ranges::find(before, wanted.name) == before.end();
      lines.push_back(absl::StrCat("device ", wanted.name, is_new ? ": added, " : ": reopened, ", wanted.bus));
      devices_.emplace(wanted.name, Device{.id = parts_.store.NewId(), .config = wanted, .info = std::move(info)});
    } else if (*known->second.info != *info) {
      Update(known->second, wanted, std::move(info), lines);
    }
    Device& device = devices_.at(wanted.name);
    FollowBoard(device, wanted.board);
    list.push_back({device.id, device.info});
  }
  // Before the collectors are created: they read their DeviceInfo from the store.
  parts_.store.SetDevices(std::move(list));
  for (const std::string& name : before) {
    // Series are keyed by name: a replaced device of the same name keeps them.
    if (!devices_.contains(name)) parts_.metrics.ForgetDevice(name, parts_.clock.Now());
  }
  for (auto& [name, device] : devices_) {
    if (!device.config.bmc.empty()) continue;
    if (device.collector == nullptr) {
      device.collector = parts_.make_collector(device.id, std::move(prepared.at(name)));
    } else {
      device.collector->Reconsider();
    }
  }
  return lines;
}

void DeviceSet::Start() {
  for (auto& [name, device] : devices_) {
    // Called after every reload: running collectors are skipped.
    if (device.collector != nullptr && !std::exchange(device.is_started, true)) device.collector->Start();
  }
}

absl::Duration DeviceSet::Silence() const {
  absl::Duration longest;
  ForEachCollector([&](const CollectorThread& collector) { longest = std::max(longest, collector.Silence()); });
  return longest;
}

void DeviceSet::RequestStop() {
  ForEachCollector([](CollectorThread& collector) { collector.RequestStop(); });
}

void DeviceSet::Stop() {
  // All are asked before the first join, so that unresponsive devices time out in parallel.
  RequestStop();
  ForEachCollector([](CollectorThread& collector) { collector.Stop(); });
}

}  // namespace sideband::daemon
