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

// Data-in has the link or the engine in its first byte.
uint8_t InstanceOf(uint8_t metric, uint32_t data) { return HasInstances(metric) ? data & 0xFF : 0; }

MetricScope DeviceScope(Complement rule) { return {.has_every_vm = rule == Complement::kAllow}; }

bool AnyAllows(const ComplementPolicy& complement) {
  return complement.counters == Complement::kAllow || complement.utilisation == Complement::kAllow;
}

}  // namespace

PerformanceMonitor::PerformanceMonitor(Device& device, const ComplementPolicy& complement, const LinkBandwidth& links)
    : device_(device), complement_(complement), links_(links), sampler_(device) {
  // The first window begins with the device, so that values are available 100 ms later.
  for (const auto& [scope, sample] : sampler_.TakeAll(AnyAllows(complement_)))
    windows_[scope].Update(sample, kWindowNs, kWindowNs);
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
  previous_ = std::exchange(latest_, sampler_.TakeAll(AnyAllows(complement_)));
  return {};
}

Reply PerformanceMonitor::Get(MonitoringAction action, uint8_t metric, uint8_t arg2, uint32_t data) {
  // The first wrong argument determines the status: arg1, then arg2, then data.
  if (metric >= mailbox::kMetricCount) return Fail(MailboxStatus::kErrArg1);
  if (!sampler_.Has(metric)) return Fail(MailboxStatus::kErrNotSupported);
  MetricScope scope;
  const MailboxStatus status = FindScope(arg2, data, scope);
  if (status != MailboxStatus::kSuccess) return Fail(status);
  const MetricSource* const source = sampler_.Find(metric, InstanceOf(metric, data));
  if (source == nullptr) return Fail(MailboxStatus::kErrData);
  const Reading reading = Read(action, *source, scope);
  if (reading.status != MailboxStatus::kSuccess) return Fail(reading.status);
  if (const auto most = links_.MostOf(static_cast<mailbox::MetricId>(metric))) {
    const auto arg1 = static_cast<uint8_t>(static_cast<uint8_t>(action) << 6 | metric);
    return LinkBandwidth::ReplyOf(reading.percent / 100 * *most, arg1, arg2);
  }
  return {.data = static_cast<uint32_t>(std::lround(reading.percent * 256))};
}

PerformanceMonitor::Reading PerformanceMonitor::Read(MonitoringAction action, const MetricSource& source,
                                                     const MetricScope& scope) {
  const MailboxStatus status = CheckSource(source, scope);
  if (status != MailboxStatus::kSuccess) return {status};
  return action == MonitoringAction::kInstantaneous ? Instantaneous(source, scope) : BetweenCaptures(source, scope);
}

// A confidential VM is refused before its compute instance is looked up: the reply must not reveal whether it exists.
MailboxStatus PerformanceMonitor::FindScope(uint8_t arg2, uint32_t data, MetricScope& scope) {
  if (arg2 == mailbox::kWholeDevice) {
    scope = DeviceScope(complement_.counters);
    return MailboxStatus::kSuccess;
  }
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

MailboxStatus PerformanceMonitor::CheckSource(const MetricSource& source, const MetricScope& scope) const {
  if (scope.vm == mailbox::kHypervisorVm) return CheckRule(source, complement_.counters);
  return source.device_scope ? MailboxStatus::kErrNotSupported : MailboxStatus::kSuccess;
}

MailboxStatus PerformanceMonitor::CheckRule(const MetricSource& source, Complement rule) const {
  const bool is_open = rule == Complement::kAllow || !HasHadConfidentialVm(device_.catalog());
  // Device-scope counts include those of the confidential VM, whether or not it is private.
  const bool is_hidden = rule == Complement::kWithhold || source.device_scope;
  return is_open || !is_hidden ? MailboxStatus::kSuccess : MailboxStatus::kErrNotAvailable;
}

PerformanceMonitor::Reading PerformanceMonitor::WholeDevice(mailbox::MetricId metric) {
  const MetricSource* const source = sampler_.Find(static_cast<uint8_t>(metric));
  if (source == nullptr) return {MailboxStatus::kErrNotSupported};
  const Complement rule = complement_.utilisation;
  const MailboxStatus status = CheckRule(*source, rule);
  return status == MailboxStatus::kSuccess ? Instantaneous(*source, DeviceScope(rule)) : Reading{status};
}

PerformanceMonitor::Reading PerformanceMonitor::Instantaneous(const MetricSource& source, const MetricScope& scope) {
  device_.DeviceCounters();  // counts up to now
  const auto sample = sampler_.Take(scope);
  if (!sample) return {MailboxStatus::kErrNotAvailable};
  MetricWindow& window = windows_[scope];
  window.Update(*sample, kWindowNs, kWindowNs * multiplier_);
  if (sampler_.Gain(source, sample->slices) == 0) return {MailboxStatus::kErrNotSupported};
  return Between(source, window.begin(), window.end());
}

PerformanceMonitor::Reading PerformanceMonitor::BetweenCaptures(const MetricSource& source,
                                                                const MetricScope& scope) const {
  const auto begin = previous_.find(scope), end = latest_.find(scope);
  if (begin == previous_.end() || end == latest_.end()) return {MailboxStatus::kErrNotAvailable};
  if (sampler_.Gain(source, end->second.slices) == 0) return {MailboxStatus::kErrNotSupported};
  return Between(source, &begin->second, &end->second);
}

PerformanceMonitor::Reading PerformanceMonitor::Between(const MetricSource& source, const MetricSample* begin,
                                                        const MetricSample* end) const {
  if (begin == nullptr) return {MailboxStatus::kErrNotAvailable};
  const auto percent = sampler_.Percent(source, *begin, *end);
  return percent ? Reading{.percent = *percent} : Reading{MailboxStatus::kErrNotAvailable};
}

}  // namespace sideband::mcu
