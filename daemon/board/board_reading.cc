// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/board_reading.h"

#include <algorithm>

namespace sideband::daemon {
namespace {

void ClearValues(BoardGroup group, BoardReading& reading) {
  switch (group) {
    case BoardGroup::kCapabilities:
      return;
    case BoardGroup::kIdentity:
      return void(reading.identity = {});
    case BoardGroup::kThresholds:
      return void(reading.thresholds = {});
    case BoardGroup::kClockLimits:
      return void(reading.clock_limits = {});
    case BoardGroup::kTemperature:
      return void(reading.temperature = {});
    case BoardGroup::kMargin:
      return void(reading.margin = {});
    case BoardGroup::kPower:
      return void(reading.power = {});
    case BoardGroup::kEnergy:
      return void(reading.energy = {});
    case BoardGroup::kClocks:
      return void(reading.clocks = {});
    case BoardGroup::kViolations:
      return void(reading.violations = {});
    case BoardGroup::kEvents:
      return void(reading.events = {});
    case BoardGroup::kDriverMessages:
      return void(reading.driver_messages = {});
    case BoardGroup::kMetrics:
      return void(reading.metrics = {});
    case BoardGroup::kMemory:
      return void(reading.memory = {});
    case BoardGroup::kPcie:
      return void(reading.pcie = {});
    case BoardGroup::kNvlink:
      return void(reading.nvlink = {});
    case BoardGroup::kDecoders:
      return void(reading.decoders = {});
    case BoardGroup::kFlags:
      return void(reading.flags = {});
    case BoardGroup::kPowerLimits:
      return void(reading.power_limits = {});
    case BoardGroup::kEcc:
      return void(reading.ecc = {});
    case BoardGroup::kRowRemaps:
      return void(reading.row_remaps = {});
    case BoardGroup::kRetiredPages:
      return void(reading.retired_pages = {});
    case BoardGroup::kPartitions:
      return void(reading.partitions = {});
  }
}

}  // namespace

std::optional<BoardTime> NewestSample(const BoardReading& reading) {
  std::optional<BoardTime> newest;
  for (const auto& [group, time] : reading.samples) {
    if (!newest || time.steady > newest->steady) newest = time;
  }
  return newest;
}

void ClearGroup(BoardGroup group, BoardReading& reading) {
  ClearValues(group, reading);
  reading.samples.erase(group);
}

}  // namespace sideband::daemon
