// SPDX-License-Identifier: Apache-2.0
//
// GPU_PERFORMANCE_MONITORING (opcode 0x28): the activity of the device, a VM (partition) or a context (compute
// instance), as the share of the cycles in which its wires were 1. Every value is computed from the pipeline's
// counters; README.md lists the events of each metric.
//   PerformanceMonitor monitor(device);
//   monitor.Execute(/*instantaneous SM activity*/ 0x01, /*whole device*/ 0xFF, 0).data;     // s24.8 percent
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_PERFORMANCE_MONITOR_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_PERFORMANCE_MONITOR_H_

#include <cstdint>
#include <map>
#include <optional>

#include "proto/mailbox/performance_metric.h"
#include "secure_mcu/firmware/complement.h"
#include "secure_mcu/firmware/device.h"
#include "secure_mcu/firmware/link_bandwidth.h"
#include "secure_mcu/firmware/metric_sample.h"
#include "secure_mcu/firmware/metric_sampler.h"
#include "secure_mcu/firmware/metric_sources.h"
#include "secure_mcu/firmware/reply.h"

namespace sideband::mcu {

// Not thread-safe.
class PerformanceMonitor {
 public:
  // `device` must outlive the object. The first windows begin now. Of the policy, `counters` is Execute's, and
  // `utilisation` is WholeDevice's.
  // With `links`, bandwidths are bytes per second (link_bandwidth.h), else shares of cycles in percent.
  explicit PerformanceMonitor(Device& device, const ComplementPolicy& complement = {}, const LinkBandwidth& links = {});

  // ERR_ARG1: SMBPBI does not define the metric. ERR_NOT_SUPPORTED: the device or the scope lacks the metric's events,
  // or the device counts no metric at all. ERR_ARG2: no such partition, or an invalid multiplier. ERR_DATA: no such
  // compute instance, or the device does not count that link or engine. ERR_NOT_AVAILABLE: before the first window has
  // ended or two captures were made, and for values of a confidential VM, and of the device where the policy withholds
  // them or they cannot be made without such a VM.
  Reply Execute(uint8_t arg1, uint8_t arg2, uint32_t data);

  struct Reading {
    mailbox::MailboxStatus status = mailbox::MailboxStatus::kSuccess;
    double percent = 0;
  };
  // The instantaneous value of the whole device, with the statuses of Execute.
  Reading WholeDevice(mailbox::MetricId metric);
  bool Has(mailbox::MetricId metric) const { return sampler_.Has(static_cast<uint8_t>(metric)); }
  bool HasAny() const { return sampler_.HasAny(); }

 private:
  Reply SetMultiplier(uint8_t multiplier);
  Reply Capture();
  Reply Get(mailbox::MonitoringAction action, uint8_t metric, uint8_t arg2, uint32_t data);
  Reading Read(mailbox::MonitoringAction action, const MetricSource& source, const MetricScope& scope);
  mailbox::MailboxStatus FindScope(uint8_t arg2, uint32_t data, MetricScope& scope);
  mailbox::MailboxStatus CheckSource(const MetricSource& source, const MetricScope& scope) const;
  // Whether the rule permits the metric of the device.
  mailbox::MailboxStatus CheckRule(const MetricSource& source, Complement rule) const;
  Reading Instantaneous(const MetricSource& source, const MetricScope& scope);
  Reading BetweenCaptures(const MetricSource& source, const MetricScope& scope) const;
  Reading Between(const MetricSource& source, const MetricSample* begin, const MetricSample* end) const;

  Device& device_;
  const ComplementPolicy complement_;
  const LinkBandwidth links_;
  MetricSampler sampler_;
  std::map<MetricScope, MetricWindow> windows_;  // bounded: arg2 and data-in address few scopes
  uint64_t multiplier_ = 1;
  // The last two captures.
  std::map<MetricScope, MetricSample> previous_;
  std::map<MetricScope, MetricSample> latest_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_PERFORMANCE_MONITOR_H_
