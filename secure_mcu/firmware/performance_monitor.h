// SPDX-License-Identifier: Apache-2.0
//
// GPU_PERFORMANCE_MONITORING (opcode 0x28): the activity of the device, a VM (partition) or a context (compute
// instance), as the share of the cycles in which its wires were 1. Every value is computed from the pipeline's
// counters; README.md lists the events of each metric.
//   PerformanceMonitor monitor(device);
//   monitor.Execute(/*instantaneous SM activity*/ 0x01, /*whole device*/ 0xFF, 0).data;     // s24.8 percent
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_PERFORMANCE_MONITOR_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_PERFORMANCE_MONITOR_H_

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "proto/mailbox/board_items.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/rotation.h"
#include "secure_mcu/firmware/command_handler.h"
#include "secure_mcu/firmware/complement.h"
#include "secure_mcu/firmware/device.h"
#include "secure_mcu/firmware/memory_links.h"
#include "secure_mcu/firmware/metric_sources.h"

namespace sideband::mcu {

// The count of one event.
struct MetricCount {
  uint64_t count = 0;                // its estimate if it is multiplexed
  mailbox::RotationTime turns = {};  // the cycles in which it took turns, and had them; 0 if it takes none
  uint64_t running = 0;              // the cycles in which it was counted, if it is in a gate group

  MetricCount& operator+=(const MetricCount& other);
};

// The counts of all metrics of a scope at one instant.
struct MetricSample {
  // Identifies the counted object. Samples with different identities are not comparable: counting restarted, or other
  // blocks were counted.
  uint64_t identity = 0;
  uint64_t reference_time_ns = 0;
  SliceSet slices = 0;
  std::vector<MetricCount> counts = {};  // parallel to MetricSources::events
};

// The time between two samples. Not thread-safe.
class MetricWindow {
 public:
  // Adds a sample. The open window ends with `now` if it has lasted at least `next_ns` (`first_ns` before the first
  // window has ended), and the next window begins. A sample of another identity restarts with a first window.
  void Update(const MetricSample& now, uint64_t first_ns, uint64_t next_ns);

  // The last complete window; null before the first one has ended.
  const MetricSample* begin() const { return begin_ ? &*begin_ : nullptr; }
  const MetricSample* end() const { return begin_ ? &*end_ : nullptr; }

 private:
  std::optional<MetricSample> begin_;
  std::optional<MetricSample> end_;  // also the beginning of the open window
};

// The whole device by default. A partition is the VM with the same number, a compute instance the context with the same
// number in that VM.
struct MetricScope {
  uint16_t vm = mailbox::kHypervisorVm;
  uint16_t context = mailbox::kNoContext;
  bool has_every_vm = false;  // of the device: confidential and private VMs included
  auto operator<=>(const MetricScope&) const = default;
};

// Samples of the metrics of a device, its partitions and their compute instances, and the value of a metric between two
// samples. Any client on the bus may read metrics: confidential VMs are never sampled, and the value of the device has
// neither these nor private VMs; while a confidential VM exists that is not private, it is the sum over the other VMs.
// Only a scope that says so has all VMs. Not thread-safe.
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
  // in this scope; of an event in a gate group, of the cycles in which the group was counted. The gain of a
  // multiplexed event is its estimate's. nullopt if no time passed between the samples, if their identities differ, if
  // the scope has no wire for the metric, if a group was not counted, or on slices whose wires differ, and if an event
  // that is multiplexed had no turn while others had.
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
  // The most that the metric's events could have gained: of those in every cycle, per cycle; of those behind gates,
  // altogether, nullopt if that is unknown.
  double UngatedGain(const MetricSource& source, SliceSet slices) const;
  std::optional<double> GatedCapacity(const MetricSource& source, const MetricSample& begin,
                                      const MetricSample& end) const;
  // The gain of each of these slices; nullopt where they differ.
  std::optional<double> GainOfEach(uint16_t event, SliceSet slices) const;

  Device& device_;
  const MetricSources sources_;
};

// Not thread-safe.
class PerformanceMonitor {
 public:
  // `device` must outlive the object. The first windows begin now. Of the policy, `counters` is Execute's, and
  // `utilisation` is WholeDevice's.
  // With `links`, bandwidths are bytes per second (LinkBandwidth), else shares of cycles in percent.
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
