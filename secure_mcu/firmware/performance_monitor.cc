// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/performance_monitor.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;
using mailbox::MonitoringAction;

constexpr uint64_t kWindowNs = 100'000'000;
constexpr uint8_t kMultipliers[] = {1, 2, 5, 10, 100};
constexpr uint8_t kMetricMask = 0x3F;
constexpr uint8_t kUnusedBit = 0x40;  // of arg2

}  // namespace

PerformanceMonitor::PerformanceMonitor(Device& device) : device_(device), sampler_(device) {
  // The first window begins with the device, so that values are available 100 ms later.
  for (const auto& [scope, sample] : sampler_.TakeAll()) windows_[scope].Update(sample, kWindowNs, kWindowNs);
}

Reply PerformanceMonitor::Execute(uint8_t arg1, uint8_t arg2, uint32_t data) {
  const auto action = static_cast<MonitoringAction>(arg1 >> 6);
  const uint8_t metric = arg1 & kMetricMask;
  if (!HasAny()) return Fail(MailboxStatus::kErrNotSupported);
  switch (action) {
    case MonitoringAction::kInstantaneous:
    case MonitoringAction::kSnapshotMetric:
      return Get(action, metric, arg2, data);
    case MonitoringAction::kCapture:
      return metric == 0 ? Capture() : Fail(MailboxStatus::kErrArg1);
    case MonitoringAction::kSetMultiplier:
      return metric == 0 ? SetMultiplier(arg2) : Fail(MailboxStatus::kErrArg1);
  }
  return Fail(MailboxStatus::kErrArg1);
}

Reply PerformanceMonitor::SetMultiplier(uint8_t multiplier) {
  if (std::find(std::begin(kMultipliers), std::end(kMultipliers), multiplier) == std::end(kMultipliers)) {
    return Fail(MailboxStatus::kErrArg2);
  }
  multiplier_ = multiplier;
  return {};
}

Reply PerformanceMonitor::Capture() {
  device_.DeviceCounters();  // counts up to now
  previous_ = std::exchange(latest_, sampler_.TakeAll());
  return {};
}

Reply PerformanceMonitor::Get(MonitoringAction action, uint8_t metric, uint8_t arg2, uint32_t data) {
  // The first wrong argument determines the status: arg1, then arg2, then data.
  if (metric >= mailbox::kMetricCount) return Fail(MailboxStatus::kErrArg1);
  if (!sampler_.Has(metric)) return Fail(MailboxStatus::kErrNotSupported);
  MetricScope scope;
  MailboxStatus status = FindScope(arg2, data, scope);
  if (status == MailboxStatus::kSuccess) status = CheckMetric(metric, scope);
  if (status != MailboxStatus::kSuccess) return Fail(status);
  const Reading reading =
      action == MonitoringAction::kInstantaneous ? Instantaneous(metric, scope) : BetweenCaptures(metric, scope);
  if (reading.status != MailboxStatus::kSuccess) return Fail(reading.status);
  return {.data = static_cast<uint32_t>(std::lround(reading.percent * 256))};
}

// A confidential VM is refused before its compute instance is looked up: the reply must not reveal whether it exists.
MailboxStatus PerformanceMonitor::FindScope(uint8_t arg2, uint32_t data, MetricScope& scope) {
  if (arg2 == mailbox::kWholeDevice) return MailboxStatus::kSuccess;
  const uint8_t partition = arg2 & mailbox::kPartitionMask;
  const mailbox::VmInfo* const vm = sampler_.FindVm(partition);
  if ((arg2 & kUnusedBit) != 0 || vm == nullptr) return MailboxStatus::kErrArg2;
  if (vm->confidential) return MailboxStatus::kErrNotAvailable;
  scope.vm = partition;
  if ((arg2 & mailbox::kComputeInstanceBit) == 0) return MailboxStatus::kSuccess;
  // Data-in has the compute instance in its second byte (facts sheet, section 7).
  scope.context = data >> 8 & 0xFF;
  return device_.BlockCounters(scope.vm, scope.context) ? MailboxStatus::kSuccess : MailboxStatus::kErrData;
}

MailboxStatus PerformanceMonitor::CheckMetric(uint8_t metric, const MetricScope& scope) {
  if (!sampler_.IsDeviceScope(metric)) return MailboxStatus::kSuccess;
  if (scope.vm != mailbox::kHypervisorVm) return MailboxStatus::kErrNotSupported;
  // Device-scope counts include those of the confidential VM, whether or not it is private.
  return sampler_.HasConfidentialVm() ? MailboxStatus::kErrNotAvailable : MailboxStatus::kSuccess;
}

PerformanceMonitor::Reading PerformanceMonitor::WholeDevice(mailbox::MetricId metric) {
  const auto index = static_cast<uint8_t>(metric);
  if (!sampler_.Has(index)) return {MailboxStatus::kErrNotSupported};
  const MailboxStatus status = CheckMetric(index, {});
  return status == MailboxStatus::kSuccess ? Instantaneous(index, {}) : Reading{status};
}

PerformanceMonitor::Reading PerformanceMonitor::Instantaneous(uint8_t metric, const MetricScope& scope) {
  device_.DeviceCounters();  // counts up to now
  const auto sample = sampler_.Take(scope);
  if (!sample) return {MailboxStatus::kErrNotAvailable};
  MetricWindow& window = windows_[scope];
  window.Update(*sample, kWindowNs, kWindowNs * multiplier_);
  if (sampler_.Gain(metric, sample->slices) == 0) return {MailboxStatus::kErrNotSupported};
  return Between(metric, window.begin(), window.end());
}

PerformanceMonitor::Reading PerformanceMonitor::BetweenCaptures(uint8_t metric, const MetricScope& scope) const {
  const auto begin = previous_.find(scope), end = latest_.find(scope);
  if (begin == previous_.end() || end == latest_.end()) return {MailboxStatus::kErrNotAvailable};
  if (sampler_.Gain(metric, end->second.slices) == 0) return {MailboxStatus::kErrNotSupported};
  return Between(metric, &begin->second, &end->second);
}

PerformanceMonitor::Reading PerformanceMonitor::Between(uint8_t metric, const MetricSample* begin,
                                                        const MetricSample* end) const {
  if (begin == nullptr) return {MailboxStatus::kErrNotAvailable};
  const auto percent = sampler_.Percent(metric, *begin, *end);
  return percent ? Reading{.percent = *percent} : Reading{MailboxStatus::kErrNotAvailable};
}

}  // namespace sideband::mcu
