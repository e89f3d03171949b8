// SPDX-License-Identifier: Apache-2.0
//
// Samples of the metrics of a device, its partitions and their compute instances, and what a metric was between two of
// them. A partition is the VM of that number, a compute instance the context of that number in it.
//   MetricSampler sampler(device);
//   const auto sample = sampler.Take({.vm = 2, .context = 1});
//   const auto percent = sampler.Percent(MetricId::kSmActivity, earlier, *sample);
//
// Confidentiality. Anybody on the bus may ask. Nothing is sampled of a confidential VM, and while there is one the
// whole device is the sum of the other VMs.
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_METRIC_SAMPLER_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_METRIC_SAMPLER_H_

#include <compare>
#include <cstdint>
#include <map>
#include <optional>

#include "proto/mailbox/catalog.h"
#include "proto/mailbox/performance_metric.h"
#include "secure_mcu/firmware/device.h"
#include "secure_mcu/firmware/metric_sample.h"
#include "secure_mcu/firmware/metric_sources.h"

namespace sideband::mcu {

// The whole device unless it says otherwise.
struct MetricScope {
  uint16_t vm = mailbox::kHypervisorVm;
  uint16_t context = mailbox::kNoContext;
  auto operator<=>(const MetricScope&) const = default;
};

// Not thread-safe.
class MetricSampler {
 public:
  // `device` must outlive it; its events must not change.
  explicit MetricSampler(Device& device) : device_(device), sources_(ResolveMetrics(device.catalog())) {}

  // Whether the device has what the metric is made of.
  bool Has(uint8_t metric) const { return !sources_[metric].events.empty(); }
  bool IsDeviceScope(uint8_t metric) const { return sources_[metric].device_scope; }
  bool HasAny() const;

  // None where there is no such VM.
  const mailbox::VmInfo* FindVm(uint16_t vm) const;
  bool HasConfidentialVm() const;

  // Of the device as of now; none where there is no such scope, or a confidential one.
  std::optional<MetricSample> Take(const MetricScope& scope);
  // Of every scope that a command can name.
  std::map<MetricScope, MetricSample> TakeAll();

  // 0 to 100: the share of the cycles between the samples, of all wires that could have counted the metric there. None
  // where no time passed between them or they are not of the same. Counts of a device without a wire for it are none
  // either.
  std::optional<double> Percent(uint8_t metric, const MetricSample& begin, const MetricSample& end) const;
  // The wires of a metric on these slices; see Device::GainPerCycle.
  double Gain(uint8_t metric, SliceSet slices) const;

 private:
  MetricSample SampleOf(const BlockView& block) const;
  std::optional<MetricSample> TakeBlock(const MetricScope& scope);
  MetricSample SumOfOpenVms();

  Device& device_;
  const MetricSources sources_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_METRIC_SAMPLER_H_
