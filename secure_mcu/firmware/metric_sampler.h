// SPDX-License-Identifier: Apache-2.0
//
// Samples of the metrics of a device, its partitions and their compute instances, and the value of a metric between two
// samples. A partition is the VM with the same number, a compute instance the context with the same number in that VM.
//   MetricSampler sampler(device);
//   const auto sample = sampler.Take({.vm = 2, .context = 1});
//   const MetricSource* const source = sampler.Find(static_cast<uint8_t>(mailbox::MetricId::kSmActivity));
//   const auto percent = sampler.Percent(*source, earlier, *sample);
//
// Confidentiality. Any client on the bus may read metrics. Confidential VMs are never sampled, and the value of the
// device has neither these nor private VMs: while a confidential VM exists that is not private, it is the sum over the
// other VMs. Only a scope that says so has all VMs.
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

// The whole device by default.
struct MetricScope {
  uint16_t vm = mailbox::kHypervisorVm;
  uint16_t context = mailbox::kNoContext;
  bool has_every_vm = false;  // of the device: confidential and private VMs included
  auto operator<=>(const MetricScope&) const = default;
};

// Not thread-safe.
class MetricSampler {
 public:
  // `device` must outlive the sampler; its events must not change.
  explicit MetricSampler(Device& device) : device_(device), sources_(ResolveMetrics(device.catalog())) {}

  // Whether the device counts the events of the metric, of any instance.
  bool Has(uint8_t metric) const { return sources_.Has(metric); }
  bool HasAny() const { return !sources_.sources.empty(); }
  // nullptr if the device does not count this instance; 0 if the metric has none. Valid as long as the sampler.
  const MetricSource* Find(uint8_t metric, uint8_t instance = 0) const { return sources_.Find(metric, instance); }

  // nullptr if the VM does not exist.
  const mailbox::VmInfo* FindVm(uint16_t vm) const;

  // A sample as of now; nullopt if the scope does not exist or is confidential.
  std::optional<MetricSample> Take(const MetricScope& scope);
  // Samples of every scope that a command can address; of the device with every VM only if asked for.
  std::map<MetricScope, MetricSample> TakeAll(bool with_every_vm);

  // 0 to 100: the counts between the samples as a share of the cycles of all wires that could have counted the metric
  // in this scope; of an event in a gate group, of the cycles in which the group was counted. Of an event that takes
  // turns, the gain is its estimate's. nullopt if no time passed between the samples, if their identities differ, if
  // the scope has no wire for the metric, if a group was not counted, or on slices whose wires differ, and if an event
  // that takes turns had none while others had.
  std::optional<double> Percent(const MetricSource& source, const MetricSample& begin, const MetricSample& end) const;
  // The gain per cycle of a metric's events on these slices; see Device::GainPerCycle.
  double Gain(const MetricSource& source, SliceSet slices) const;

 private:
  MetricSample SampleOf(const BlockView& block) const;
  std::optional<MetricSample> TakeBlock(const MetricScope& scope);
  // A sum of samples of the catalogue's VMs and hosts.
  MetricSample Sum(bool with_every_vm);
  std::optional<MetricSample> TakeEveryVm();
  static bool IsCovered(const MetricSource& source, const MetricSample& begin, const MetricSample& end);
  // What the metric's events could have gained: of those in every cycle, per cycle; of those behind gates, altogether,
  // nullopt if that is unknown.
  double UngatedGain(const MetricSource& source, SliceSet slices) const;
  std::optional<double> GatedCapacity(const MetricSource& source, const MetricSample& begin,
                                      const MetricSample& end) const;
  // Of each of these slices; nullopt where they differ.
  std::optional<double> GainOfEach(uint16_t event, SliceSet slices) const;

  Device& device_;
  const MetricSources sources_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_METRIC_SAMPLER_H_
