// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/sensor_message.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include "daemon/sensors/board_series.h"
#include "daemon/sensors/sensor_families.h"
#include "daemon/snapshot/message.h"

namespace sideband::daemon {
namespace {

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

}  // namespace

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

}  // namespace sideband::daemon
