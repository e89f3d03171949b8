// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "daemon/board/board_groups.h"
#include "daemon/board/board_reading.h"
#include "daemon/board/board_store.h"
#include "daemon/history/tokens.h"
#include "daemon/sensor_history/fake_readings.h"
#include "daemon/sensor_history/sensor_chunk.h"
#include "daemon/sensor_history/sensor_frame.h"
#include "daemon/sensor_history/sensor_history.h"
#include "daemon/sensor_history/sensor_sample.h"
#include "daemon/sensor_history/sensor_series.h"
#include "proto/base/bytes.h"

namespace sideband::daemon {
namespace {

void Show(const std::string& name);
void Show(const std::string& name, double value);
void Show(absl::Time time, const SensorValue& value);
std::vector<SensorSeries> SeriesOf(std::span<const SensorSample> samples);

void UseFakeReadings(SensorHistory& history) {
  //@ daemon/sensor_history/fake_readings.h
}

void UseSensorChunk(const SensorChunkView& view) {
  //@ daemon/sensor_history/sensor_chunk.h
}

void UseSensorFrame(const SensorLayout& layout, std::span<const SensorSample> samples, absl::Time time,
                    const SensorFrame& before, BoundedSink& sink, ByteSpan bytes) {
  //@ daemon/sensor_history/sensor_frame.h
}

void UseSensorHistory(BoardStore& boards, size_t device) {
  //@ daemon/sensor_history/sensor_history.h
}

void UseSensorSample(const BoardReading& reading) {
  //@ daemon/sensor_history/sensor_sample.h
}

void UseSensorSeries(std::span<const SensorSample> samples) {
  //@ daemon/sensor_history/sensor_series.h
}

}  // namespace
}  // namespace sideband::daemon
