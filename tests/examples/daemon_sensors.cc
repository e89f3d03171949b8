// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "daemon/sensors/board_clock_families.h"
#include "daemon/sensors/board_decoder_families.h"
#include "daemon/sensors/board_link_families.h"
#include "daemon/sensors/board_memory_families.h"
#include "daemon/sensors/board_metric_families.h"
#include "daemon/sensors/board_part.h"
#include "daemon/sensors/board_series.h"
#include "daemon/sensors/board_state_families.h"
#include "daemon/sensors/board_thermal_families.h"
#include "daemon/sensors/sensor_families.h"

namespace sideband::daemon {
namespace {

//@ daemon/sensors/board_series.h

void Add(const BoardFamilyRow& row);
void Add(const std::string& name, const std::string& help);

void UseBoardClockFamilies() {
  //@ daemon/sensors/board_clock_families.h
}

void UseBoardDecoderFamilies() {
  //@ daemon/sensors/board_decoder_families.h
}

void UseBoardLinkFamilies() {
  //@ daemon/sensors/board_link_families.h
}

void UseBoardMemoryFamilies() {
  //@ daemon/sensors/board_memory_families.h
}

void UseBoardStateFamilies() {
  //@ daemon/sensors/board_state_families.h
}

void UseBoardThermalFamilies() {
  //@ daemon/sensors/board_thermal_families.h
}

void UseBoardMetricFamilies() {
  //@ daemon/sensors/board_metric_families.h
}

void Show(double value);

void UseBoardPart(const BoardPart& part, mailbox::MetricId metric, double value) {
  //@ daemon/sensors/board_part.h
}

void UseSensorFamilies(const BoardSight& sight, BoardSeries& series) {
  //@ daemon/sensors/sensor_families.h
}

}  // namespace
}  // namespace sideband::daemon
