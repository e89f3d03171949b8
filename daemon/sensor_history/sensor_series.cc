// SPDX-License-Identifier: Apache-2.0
#include "daemon/sensor_history/sensor_series.h"

namespace sideband::daemon {
namespace {

// What an allocation takes beside its bytes.
constexpr size_t kAllocation = 32;

size_t BytesOf(const std::string& text) {
  return text.capacity() < sizeof(std::string) ? 0 : text.capacity() + kAllocation;
}

}  // namespace

size_t SensorLayout::Footprint() const {
  size_t bytes = sizeof(SensorLayout) + 2 * kAllocation + series.capacity() * sizeof(SensorSeries);
  for (const SensorSeries& one : series) {
    bytes += kAllocation + one.labels.capacity() * sizeof(one.labels[0]);
    for (const auto& [name, value] : one.labels) bytes += BytesOf(name) + BytesOf(value);
  }
  return bytes;
}

}  // namespace sideband::daemon
