// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/sensor_queries.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "daemon/board/board_series.h"
#include "daemon/board/sensor_families.h"
#include "daemon/snapshot/message.h"
#include "daemon/view/row_filter.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/board_items.h"

namespace sideband::daemon {
namespace {

// Every group waits for the device's interval at least, and a reading of many partitions beside another client of the
// mailbox takes most of a minute.
constexpr absl::Duration kSilenceMin = absl::Minutes(1);
constexpr int kIntervals = 3;  // as of snapshots

bool StillAnswers(const BoardReading& reading, absl::Duration interval, absl::Duration now) {
  const auto newest = NewestSample(reading);
  return newest && newest->steady + std::max(kSilenceMin, kIntervals * interval) >= now;
}

std::set<uint8_t> PartitionsOf(const BoardReading& reading) {
  std::set<uint8_t> partitions;
  for (const auto& [scope, values] : reading.metrics.scopes) {
    if (scope.partition) partitions.insert(*scope.partition);
  }
  return partitions;
}

using sideband::v1::SensorDescription;

class ValueSeries final : public BoardSeries {
 public:
  ValueSeries(const SensorFamily& family, const BoardSight& sight, sideband::v1::DeviceSensors& out)
      : BoardSeries(sight), family_(family), out_(out) {}

 protected:
  void TakeGauge(SensorLabels labels, double value) override { Add(labels).set_value(value); }
  void TakeCount(SensorLabels labels, const RunningCount& count, uint32_t per_unit) override {
    sideband::v1::Sensor& sensor = Add(labels);
    sensor.set_value(static_cast<double>(count.value) / per_unit);
    sensor.set_count(count.value);
    sensor.set_count_per_unit(per_unit);
    SetTime(count.created, *sensor.mutable_created());
  }

 private:
  sideband::v1::Sensor& Add(SensorLabels labels) {
    sideband::v1::Sensor& sensor = *out_.add_sensors();
    sensor.set_name(family_.name);
    sensor.set_group(RowOf(family_.group).name);
    SetLabels(labels, sensor);
    return sensor;
  }

  const SensorFamily& family_;
  sideband::v1::DeviceSensors& out_;
};

class DescriptionSeries final : public BoardSeries {
 public:
  DescriptionSeries(const SensorFamily& family, const BoardSight& sight,
                    sideband::v1::ListSensorsResponse::DeviceSensors& out)
      : BoardSeries(sight), family_(family), out_(out) {}

 protected:
  void TakeGauge(SensorLabels labels, double) override { Add(labels, SensorDescription::KIND_GAUGE); }
  void TakeCount(SensorLabels labels, const RunningCount&, uint32_t) override {
    Add(labels, SensorDescription::KIND_COUNTER);
  }

 private:
  void Add(SensorLabels labels, SensorDescription::Kind kind) {
    SensorDescription& sensor = *out_.add_sensors();
    sensor.set_name(family_.name);
    SetLabels(labels, sensor);
    sensor.set_description(family_.help);
    sensor.set_kind(kind);
    sensor.set_group(RowOf(family_.group).name);
  }

  const SensorFamily& family_;
  sideband::v1::ListSensorsResponse::DeviceSensors& out_;
};

template <typename Series, typename Message>
void AddAll(const VisibleBoard& board, const SensorNames& names, absl::Duration now, Message& out) {
  out.set_device(board.device);
  const BoardSight sight = {*board.reading, board.part, now};
  for (const SensorFamily& family : SensorFamilies()) {
    // Sensor::groups has the ages.
    if (!IsShown(family, board.part) || family.name == kSampleAges) continue;
    if (!names.empty() && !names.contains(family.name)) continue;
    Series series(family, sight, out);
    family.write(series);
  }
}

void AddGroup(const BoardReading& reading, BoardGroup group, absl::Duration now, sideband::v1::DeviceSensors& out) {
  const auto sample = Find(reading.samples, group);
  if (!sample) return;
  sideband::v1::SensorGroup& message = *out.add_groups();
  message.set_name(RowOf(group).name);
  SetTime(sample->wall, *message.mutable_host_time());
  SetDuration(std::max(now - sample->steady, absl::ZeroDuration()), *message.mutable_age());
}

SensorNames NamesOf(const sideband::v1::SensorFilter& filter) { return {filter.names().begin(), filter.names().end()}; }

// Absent and denied metrics are indistinguishable.
template <typename Response>
absl::StatusOr<Response> WithAllNames(Response response, SensorNames missing) {
  for (const auto& device : response.devices()) {
    for (const auto& sensor : device.sensors()) missing.erase(sensor.name());
  }
  if (!missing.empty()) return NotFound();
  return response;
}

}  // namespace

BoardPart VisiblePart(const Caller& caller, const std::string& device, const std::set<uint8_t>& partitions) {
  if (caller.May(Resource::Board(), Right::kRead)) return BoardPart::Whole();
  BoardPart part;
  for (const uint8_t partition : partitions) {
    for (const mailbox::MetricRow& row : mailbox::kMetrics) {
      const Resource metric = Resource::Partition(device, partition, row.word);
      if (caller.May(metric, Right::kRead)) part.Add(partition, row.metric);
    }
  }
  return part;
}

std::vector<VisibleBoard> VisibleBoards(const BoardStore& boards, const Caller& caller,
                                        const std::vector<VisibleDevice>& devices, absl::Duration steady_now) {
  std::vector<VisibleBoard> visible;
  for (const VisibleDevice& device : devices) {
    auto reading = boards.Newest(device.index);
    if (reading == nullptr || !StillAnswers(*reading, device.info->interval, steady_now)) continue;
    BoardPart part = VisiblePart(caller, device.info->name, PartitionsOf(*reading));
    if (!part.is_nothing()) visible.push_back({device.info->name, std::move(reading), std::move(part)});
  }
  return visible;
}

void AddSensors(const VisibleBoard& board, const SensorNames& names, absl::Duration steady_now,
                sideband::v1::DeviceSensors& out) {
  AddAll<ValueSeries>(board, names, steady_now, out);
  std::set<std::string> shown;
  for (const sideband::v1::Sensor& sensor : out.sensors()) shown.insert(sensor.group());
  for (const GroupRow& row : kBoardGroups) {
    if (shown.contains(row.name)) AddGroup(*board.reading, row.group, steady_now, out);
  }
}

void AddDescriptions(const VisibleBoard& board, const SensorNames& names, absl::Duration steady_now,
                     sideband::v1::ListSensorsResponse::DeviceSensors& out) {
  AddAll<DescriptionSeries>(board, names, steady_now, out);
}

std::vector<VisibleBoard> SensorQueries::Visible(const Caller& caller,
                                                 const std::vector<VisibleDevice>& devices) const {
  return VisibleBoards(boards_, caller, devices, reader_.clock().Steady());
}

absl::StatusOr<std::vector<VisibleBoard>> SensorQueries::Boards(const Caller& caller, const std::string& device) const {
  std::vector<VisibleDevice> devices = reader_.Devices(caller);
  // First: what a tenant may see of a board takes a decision for each metric of each partition.
  if (!device.empty()) std::erase_if(devices, [&](const VisibleDevice& known) { return known.info->name != device; });
  std::vector<VisibleBoard> boards = Visible(caller, devices);
  const bool is_silent = boards.empty() && !devices.empty() && caller.May(Resource::Board(), Right::kRead);
  if (device.empty() || !boards.empty() || is_silent) return boards;
  return NotFound();
}

absl::StatusOr<std::vector<VisibleBoard>> SensorQueries::WholeBoards(const Caller& caller,
                                                                     const std::string& device) const {
  std::vector<VisibleBoard> boards;
  bool is_there = device.empty();
  if (caller.May(Resource::Board(), Right::kRead)) {
    for (const VisibleDevice& known : reader_.Devices(caller)) {
      if (!device.empty() && known.info->name != device) continue;
      is_there = true;
      if (auto reading = boards_.Newest(known.index)) boards.push_back({known.info->name, std::move(reading)});
    }
  }
  if (!is_there) return NotFound();
  return boards;
}

absl::StatusOr<sideband::v1::ListSensorsResponse> SensorQueries::List(
    const Caller& caller, const sideband::v1::ListSensorsRequest& request) const {
  SIDEBAND_ASSIGN_OR_RETURN(const auto boards, Boards(caller, request.filter().device()));
  const SensorNames names = NamesOf(request.filter());
  sideband::v1::ListSensorsResponse response;
  for (const VisibleBoard& board : boards) {
    AddDescriptions(board, names, reader_.clock().Steady(), *response.add_devices());
  }
  return WithAllNames(std::move(response), names);
}

absl::StatusOr<sideband::v1::GetSensorsResponse> SensorQueries::Get(
    const Caller& caller, const sideband::v1::GetSensorsRequest& request) const {
  SIDEBAND_ASSIGN_OR_RETURN(const auto boards, Boards(caller, request.filter().device()));
  const SensorNames names = NamesOf(request.filter());
  sideband::v1::GetSensorsResponse response;
  for (const VisibleBoard& board : boards) {
    AddSensors(board, names, reader_.clock().Steady(), *response.add_devices());
  }
  return WithAllNames(std::move(response), names);
}

}  // namespace sideband::daemon
