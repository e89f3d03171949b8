// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "daemon/board/board_groups.h"
#include "daemon/board/board_reading.h"
#include "daemon/board/board_store.h"
#include "daemon/history/chunk.h"
#include "daemon/history/fake_life.h"
#include "daemon/history/frame.h"
#include "daemon/history/history.h"
#include "daemon/history/sensor_frame.h"
#include "daemon/history/sensor_history.h"
#include "daemon/history/sensor_sample.h"
#include "daemon/history/tokens.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/snapshot/store.h"
#include "proto/base/bytes.h"

namespace sideband::daemon {
namespace {

void Use(absl::Time time, uint64_t count);
void Use(const FrameHeader& header, uint64_t count);
void Use(const FrameHeader& header, std::span<const uint64_t> values);
void Use(std::span<const uint64_t> values);
void StartChunk(const Layout& layout);
void Keep(const ChunkView& view);

void UseChunk(const ChunkView& view, size_t row, size_t event, const Layout& layout,
              const std::shared_ptr<const DeviceSnapshot>& snapshot) {
  //@ daemon/history/chunk.h
}

void UseFakeLife(History& history, SensorHistory& sensors) {
  //@ daemon/history/fake_life.h
}

void UseFrame(const DeviceSnapshot& before, const DeviceSnapshot& snapshot, std::span<uint8_t> free_bytes,
              const Layout& layout, ByteSpan bytes) {
  //@ daemon/history/frame.h
}

void UseHistory(Store& store, size_t row, size_t event) {
  //@ daemon/history/history.h
}

void UseTokens(std::span<uint8_t> free_bytes, std::span<const uint64_t> before, std::span<const uint64_t> now,
               ByteSpan bytes, std::span<uint64_t> values) {
  //@ daemon/history/tokens.h
}

void Show(const std::string& name);
void Show(const std::string& name, double value);
void Show(absl::Time time, const SensorValue& value);
std::vector<SensorSeries> SeriesOf(std::span<const SensorSample> samples);

void UseSensorFrame(const SensorChunkView& view, const SensorLayout& layout, std::span<const SensorSample> samples,
                    absl::Time time, const SensorFrame& before, BoundedSink& sink, ByteSpan bytes) {
  //@ daemon/history/sensor_frame.h
}

void UseSensorHistory(BoardStore& boards, size_t device) {
  //@ daemon/history/sensor_history.h
}

void UseSensorSample(const BoardReading& reading, std::span<const SensorSample> samples) {
  //@ daemon/history/sensor_sample.h
}

}  // namespace
}  // namespace sideband::daemon
