// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "daemon/sensors/board_series.h"
#include "daemon/sensors/sensor_families.h"

namespace sideband::daemon {
namespace {

//@ daemon/sensors/board_series.h

void Add(const BoardFamilyRow& row);
void Add(const std::string& name, const std::string& help);

void Show(double value);

void UseSensorFamilies(const BoardSight& sight, BoardSeries& series) {
  //@ daemon/sensors/sensor_families.h
}

}  // namespace
}  // namespace sideband::daemon
