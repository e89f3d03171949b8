// SPDX-License-Identifier: Apache-2.0
#include "client/bus/monitoring_text.h"

#include "absl/strings/str_cat.h"
#include "client/bus/smbpbi_names.h"
#include "client/bus/value_text.h"
#include "proto/mailbox/performance_metric.h"

namespace sideband::client {
namespace {

using mailbox::CommandWord;
using mailbox::MonitoringAction;

// arg1 holds the action in bits 7:6 and the metric in bits 5:0.
MonitoringAction ActionOf(const CommandWord& command) { return static_cast<MonitoringAction>(command.arg1 >> 6); }
uint8_t MetricOf(const CommandWord& command) { return command.arg1 & 0x3F; }

std::string ScopeText(const CommandWord& command, const DataRegisters& in) {
  if (command.arg2 == mailbox::kWholeDevice) return "whole device";
  const std::string partition = absl::StrCat("partition ", command.arg2 & mailbox::kPartitionMask);
  if ((command.arg2 & mailbox::kComputeInstanceBit) == 0) return partition;
  const std::string instance = in.data.has_value() ? absl::StrCat(*in.data >> 8 & 0xFF) : "?";
  return absl::StrCat(partition, ", compute instance ", instance);
}

// Bandwidth metrics, for which smbpbi.h specifies no percentage.
bool IsBandwidth(uint8_t metric) { return (metric >= 0x08 && metric <= 0x0D) || (metric >= 0x11 && metric <= 0x14); }

}  // namespace

std::string MonitoringArguments(const CommandWord& command, const DataRegisters& in) {
  switch (ActionOf(command)) {
    case MonitoringAction::kInstantaneous:
      return absl::StrCat(GpmMetricName(MetricOf(command)), " now, ", ScopeText(command, in));
    case MonitoringAction::kSnapshotMetric:
      return absl::StrCat(GpmMetricName(MetricOf(command)), " between captures, ", ScopeText(command, in));
    case MonitoringAction::kCapture:
      return absl::StrCat("capture, ", ScopeText(command, in));
    case MonitoringAction::kSetMultiplier:
      return absl::StrCat("multiplier ", command.arg2);
  }
  return "";
}

std::string MonitoringData(const CommandWord& command, uint32_t value) {
  if (ActionOf(command) > MonitoringAction::kSnapshotMetric) return "";
  const std::string fixed = Fixed24p8Text(value);
  if (IsBandwidth(MetricOf(command))) return absl::StrCat(HexText(value), " (as s24.8: ", fixed, ")");
  return absl::StrCat(fixed, " %");
}

}  // namespace sideband::client
