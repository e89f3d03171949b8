// SPDX-License-Identifier: Apache-2.0
//
// SMBPBI's GPU_PERFORMANCE_MONITORING in a bus trace (proto/mailbox/performance_metric.h).
//   MonitoringArguments(command, in);    // "SM activity now, whole device"
//   MonitoringData(command, 0x3280);     // "50.5 %"
#ifndef SIDEBAND_CLIENT_BUS_MONITORING_TEXT_H_
#define SIDEBAND_CLIENT_BUS_MONITORING_TEXT_H_

#include <cstdint>
#include <string>

#include "client/bus/data_registers.h"
#include "proto/mailbox/word.h"

namespace sideband::client {

// Of the forms of command_text_row.h.
std::string MonitoringArguments(const mailbox::CommandWord& command, const DataRegisters& in);
std::string MonitoringData(const mailbox::CommandWord& command, uint32_t value);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_MONITORING_TEXT_H_
