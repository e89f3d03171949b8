// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/metric_sampler.h"

#include <algorithm>

namespace sideband::mcu {
namespace {

// The largest numbers that arg2 and data-in can encode.
constexpr uint16_t kPartitionMax = mailbox::kPartitionMask;
constexpr uint16_t kComputeInstanceMax = 0xFF;

constexpr uint64_t kFnvOffset = 0xcbf29ce484222325, kFnvPrime = 0x100000001b3;

// FNV-1a: the identity of a sum changes with the set of summed VMs and their generations.
uint64_t Mix(uint64_t hash, uint64_t value) { return (hash ^ value) * kFnvPrime; }

}  // namespace

bool MetricSampler::HasAny() const {
  return std::any_of(sources_.begin(), sources_.end(), [](const auto& source) { return !source.events.empty(); });
}

const mailbox::VmInfo* MetricSampler::FindVm(uint16_t vm) const {
  for (const mailbox::VmInfo& info : device_.catalog().vms) {
    if (info.id == vm) return &info;
  }
  return nullptr;
}

bool MetricSampler::HasConfidentialVm() const {
  const auto& vms = device_.catalog().vms;
  return std::any_of(vms.begin(), vms.end(), [](const mailbox::VmInfo& vm) { return vm.confidential; });
}

// The device's block has counts that must not be shown.
bool MetricSampler::HidesDeviceBlock() const {
  return std::ranges::any_of(device_.catalog().vms,
                             [](const mailbox::VmInfo& vm) { return vm.confidential && !vm.is_private; });
}

MetricSample MetricSampler::SampleOf(const BlockView& block) const {
  MetricSample sample{
      .identity = block.generation, .reference_time_ns = block.reference_time_ns, .slices = block.slices};
  for (size_t metric = 0; metric < sources_.size(); ++metric) {
    const MetricSource& source = sources_[metric];
    for (size_t i = 0; i < source.events.size(); ++i) {
      sample.counts[metric] += block.CountOf(source.events[i]);
      const RotatedCount* const rotated = block.FindRotated(source.events[i]);
      if (rotated != nullptr) sample.turns[metric][i] = rotated->time;
      if (source.gates[i].running) sample.running[metric][i] = block.counters[*source.gates[i].running];
    }
  }
  return sample;
}

std::optional<MetricSample> MetricSampler::TakeBlock(const MetricScope& scope) {
  const auto block = device_.BlockCounters(scope.vm, scope.context);
  if (!block) return std::nullopt;
  return SampleOf(*block);
}

// The sum over the VMs that are neither confidential nor private, and the slices' hosts; as old as the oldest of their
// blocks.
MetricSample MetricSampler::SumOfOpenBlocks() {
  MetricSample sum{
      .identity = kFnvOffset, .reference_time_ns = device_.ReferenceTimeNs(), .slices = kEverySlice, .counts = {}};
  const auto add = [&](uint64_t id, const std::optional<MetricSample>& sample) {
    if (!sample) return;
    sum.identity = Mix(Mix(sum.identity, id), sample->identity);
    sum.reference_time_ns = std::min(sum.reference_time_ns, sample->reference_time_ns);
    for (size_t metric = 0; metric < sum.counts.size(); ++metric) {
      sum.counts[metric] += sample->counts[metric];
      for (size_t i = 0; i < kMetricEventsMax; ++i) {
        sum.running[metric][i] += sample->running[metric][i];
        sum.turns[metric][i].enabled += sample->turns[metric][i].enabled;
        sum.turns[metric][i].running += sample->turns[metric][i].running;
      }
    }
  };
  for (const mailbox::VmInfo& vm : device_.catalog().vms) {
    if (!vm.confidential && !vm.is_private) add(vm.id, TakeBlock({.vm = vm.id}));
  }
  for (const mailbox::HostBlockInfo& host : device_.catalog().host_blocks) {
    add(mailbox::kHypervisorVm, TakeBlock({mailbox::kHypervisorVm, host.slice}));
  }
  return sum;
}

std::optional<MetricSample> MetricSampler::Take(const MetricScope& scope) {
  if (scope.vm == mailbox::kHypervisorVm) return HidesDeviceBlock() ? SumOfOpenBlocks() : TakeBlock(scope);
  const mailbox::VmInfo* const vm = FindVm(scope.vm);
  if (vm == nullptr || vm->confidential) return std::nullopt;
  return TakeBlock(scope);
}

std::map<MetricScope, MetricSample> MetricSampler::TakeAll() {
  std::map<MetricScope, MetricSample> samples;
  const auto take = [&](const MetricScope& scope) {
    if (const auto sample = Take(scope)) samples.emplace(scope, *sample);
  };
  take({});
  for (const mailbox::VmInfo& vm : device_.catalog().vms) {
    if (vm.id <= kPartitionMax) take({.vm = vm.id});
  }
  for (const mailbox::ContextInfo& context : device_.catalog().contexts) {
    if (context.vm <= kPartitionMax && context.id <= kComputeInstanceMax) take({context.vm, context.id});
  }
  return samples;
}

double MetricSampler::Gain(uint8_t metric, SliceSet slices) const {
  double gain = 0;
  for (const uint16_t event : sources_[metric].events) gain += device_.GainPerCycle(event, slices);
  return gain;
}

double MetricSampler::UngatedGain(uint8_t metric, SliceSet slices) const {
  const MetricSource& source = sources_[metric];
  double gain = 0;
  for (size_t i = 0; i < source.events.size(); ++i) {
    if (!source.gates[i].is_gated) gain += device_.GainPerCycle(source.events[i], slices);
  }
  return gain;
}

std::optional<double> MetricSampler::GainOfEach(uint16_t event, SliceSet slices) const {
  std::optional<double> each;
  for (size_t slice = 0; slice < device_.catalog().slices.size(); ++slice) {
    const SliceSet one = SliceSet{1} << slice;
    if ((slices & one) == 0) continue;
    const double gain = device_.GainPerCycle(event, one);
    if (each && *each != gain) return std::nullopt;
    each = gain;
  }
  return each;
}

std::optional<double> MetricSampler::GatedCapacity(uint8_t metric, const MetricSample& begin,
                                                   const MetricSample& end) const {
  const MetricSource& source = sources_[metric];
  double capacity = 0;
  for (size_t i = 0; i < source.events.size(); ++i) {
    if (!source.gates[i].is_gated) continue;
    // A block's running cycles are those of its slices together.
    const auto gain = GainOfEach(source.events[i], end.slices);
    const uint64_t cycles = end.running[metric][i] - begin.running[metric][i];
    if (!gain || !source.gates[i].running || cycles == 0) return std::nullopt;
    capacity += *gain * static_cast<double>(cycles);
  }
  return capacity;
}

// Whether each event of the metric that takes turns has had some, if any cycle of them passed.
bool MetricSampler::IsCovered(uint8_t metric, const MetricSample& begin, const MetricSample& end) {
  for (size_t i = 0; i < kMetricEventsMax; ++i) {
    const mailbox::RotationTime &before = begin.turns[metric][i], &after = end.turns[metric][i];
    if (after.enabled != before.enabled && after.running == before.running) return false;
  }
  return true;
}

std::optional<double> MetricSampler::Percent(uint8_t metric, const MetricSample& begin, const MetricSample& end) const {
  const double gain = Gain(metric, end.slices);
  if (begin.identity != end.identity || end.reference_time_ns <= begin.reference_time_ns || gain == 0) {
    return std::nullopt;
  }
  if (!IsCovered(metric, begin, end)) return std::nullopt;
  const double cycles = static_cast<double>(end.reference_time_ns - begin.reference_time_ns) / 1e9 *
                        static_cast<double>(device_.catalog().reference_clock_hz);
  const auto gated = GatedCapacity(metric, begin, end);
  if (!gated) return std::nullopt;
  const auto counts = static_cast<double>(end.counts[metric] - begin.counts[metric]);
  // Commits that are late or early can push the share above 100 %.
  return std::clamp(100 * counts / (cycles * UngatedGain(metric, end.slices) + *gated), 0.0, 100.0);
}

}  // namespace sideband::mcu
