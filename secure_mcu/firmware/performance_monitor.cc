// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/performance_monitor.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "secure_mcu/firmware/complement.h"

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;
using mailbox::MonitoringAction;

// The largest numbers that arg2 and data-in can encode.
constexpr uint16_t kPartitionMax = mailbox::kPartitionMask;
constexpr uint16_t kComputeInstanceMax = 0xFF;

constexpr uint64_t kFnvOffset = 0xcbf29ce484222325, kFnvPrime = 0x100000001b3;

// FNV-1a: the identity of a sum changes with the set of summed VMs and their generations.
uint64_t Mix(uint64_t hash, uint64_t value) { return (hash ^ value) * kFnvPrime; }

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

MetricCount& MetricCount::operator+=(const MetricCount& other) {
  count += other.count;
  turns.enabled += other.turns.enabled;
  turns.running += other.turns.running;
  running += other.running;
  return *this;
}

void MetricWindow::Update(const MetricSample& now, uint64_t first_ns, uint64_t next_ns) {
  // Counts of different identities are not comparable, so windows start over.
  if (!end_ || end_->identity != now.identity) {
    begin_.reset();
    end_ = now;
    return;
  }
  const uint64_t window_ns = begin_ ? next_ns : first_ns;
  if (now.reference_time_ns < end_->reference_time_ns + window_ns) return;
  begin_ = end_;
  end_ = now;
}

const mailbox::VmInfo* MetricSampler::FindVm(uint16_t vm) const {
  for (const mailbox::VmInfo& info : device_.catalog().vms) {
    if (info.id == vm) return &info;
  }
  return nullptr;
}

MetricSample MetricSampler::SampleOf(const BlockView& block) const {
  MetricSample sample{
      .identity = block.generation, .reference_time_ns = block.reference_time_ns, .slices = block.slices};
  sample.counts.reserve(sources_.events.size());
  for (const MetricEvent& event : sources_.events) {
    MetricCount& count = sample.counts.emplace_back(MetricCount{.count = block.CountOf(event.event)});
    if (const RotatedCount* const rotated = block.FindRotated(event.event)) count.turns = rotated->time;
    if (event.gate.running) count.running = block.counters[*event.gate.running];
  }
  return sample;
}

std::optional<MetricSample> MetricSampler::TakeBlock(const MetricScope& scope) {
  const auto block = device_.BlockCounters(scope.vm, scope.context);
  if (!block) return std::nullopt;
  return SampleOf(*block);
}

// The sum over the VMs, without confidential and private ones unless asked for, and the slices' hosts; as old as the
// oldest of their blocks.
MetricSample MetricSampler::Sum(bool with_every_vm) {
  MetricSample sum{.identity = kFnvOffset,
                   .reference_time_ns = device_.ReferenceTimeNs(),
                   .slices = kEverySlice,
                   .counts = std::vector<MetricCount>(sources_.events.size())};
  const auto add = [&](uint64_t id, const std::optional<MetricSample>& sample) {
    if (!sample) return;
    sum.identity = Mix(Mix(sum.identity, id), sample->identity);
    sum.reference_time_ns = std::min(sum.reference_time_ns, sample->reference_time_ns);
    for (size_t i = 0; i < sum.counts.size(); ++i) sum.counts[i] += sample->counts[i];
  };
  for (const mailbox::VmInfo& vm : device_.catalog().vms) {
    const bool is_open = !vm.confidential && !vm.is_private;
    if (is_open || with_every_vm) add(vm.id, TakeBlock({.vm = vm.id}));
  }
  for (const mailbox::HostBlockInfo& host : device_.catalog().host_blocks) {
    add(mailbox::kHypervisorVm, TakeBlock({mailbox::kHypervisorVm, host.slice}));
  }
  return sum;
}

// The device's block lacks private VMs, and the VMs' blocks lack what is counted for the device alone.
std::optional<MetricSample> MetricSampler::TakeEveryVm() {
  const auto own = TakeBlock({});
  if (!own || std::ranges::none_of(device_.catalog().vms, &mailbox::VmInfo::is_private)) return own;
  MetricSample sum = Sum(/*with_every_vm=*/true);
  sum.identity = Mix(sum.identity, own->identity);
  sum.reference_time_ns = std::min(sum.reference_time_ns, own->reference_time_ns);
  for (size_t i = 0; i < sum.counts.size(); ++i) {
    if (sources_.events[i].device_scope) sum.counts[i] = own->counts[i];
  }
  return sum;
}

std::optional<MetricSample> MetricSampler::Take(const MetricScope& scope) {
  if (scope.has_every_vm) return TakeEveryVm();
  if (scope.vm == mailbox::kHypervisorVm) {
    return DeviceBlockIsOpen(device_.catalog()) ? TakeBlock(scope) : Sum(/*with_every_vm=*/false);
  }
  const mailbox::VmInfo* const vm = FindVm(scope.vm);
  if (vm == nullptr || vm->confidential) return std::nullopt;
  return TakeBlock(scope);
}

std::map<MetricScope, MetricSample> MetricSampler::TakeAll(bool with_every_vm) {
  std::map<MetricScope, MetricSample> samples;
  const auto take = [&](const MetricScope& scope) {
    if (const auto sample = Take(scope)) samples.emplace(scope, *sample);
  };
  take({});
  if (with_every_vm) take({.has_every_vm = true});
  for (const mailbox::VmInfo& vm : device_.catalog().vms) {
    if (vm.id <= kPartitionMax) take({.vm = vm.id});
  }
  for (const mailbox::ContextInfo& context : device_.catalog().contexts) {
    if (context.vm <= kPartitionMax && context.id <= kComputeInstanceMax) take({context.vm, context.id});
  }
  return samples;
}

double MetricSampler::Gain(const MetricSource& source, SliceSet slices) const {
  double gain = 0;
  for (const size_t i : source.events) gain += device_.GainPerCycle(sources_.events[i].event, slices);
  return gain;
}

double MetricSampler::UngatedGain(const MetricSource& source, SliceSet slices) const {
  double gain = 0;
  for (const size_t i : source.events) {
    const MetricEvent& event = sources_.events[i];
    if (!event.gate.is_gated) gain += device_.GainPerCycle(event.event, slices);
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

std::optional<double> MetricSampler::GatedCapacity(const MetricSource& source, const MetricSample& begin,
                                                   const MetricSample& end) const {
  double capacity = 0;
  for (const size_t i : source.events) {
    const MetricEvent& event = sources_.events[i];
    // Where an event has no wires, that its group was not counted loses nothing: an engine of other slices.
    if (!event.gate.is_gated || device_.GainPerCycle(event.event, end.slices) == 0) continue;
    // A block's running cycles are those of its slices together.
    const auto gain = GainOfEach(event.event, end.slices);
    const uint64_t cycles = end.counts[i].running - begin.counts[i].running;
    if (!gain || *gain == 0 || !event.gate.running || cycles == 0) return std::nullopt;
    capacity += *gain * static_cast<double>(cycles);
  }
  return capacity;
}

// Whether each multiplexed event of the metric has had turns, if any cycle of them passed.
bool MetricSampler::IsCovered(const MetricSource& source, const MetricSample& begin, const MetricSample& end) {
  return std::ranges::all_of(source.events, [&](size_t i) {
    const mailbox::RotationTime &before = begin.counts[i].turns, &after = end.counts[i].turns;
    return after.enabled == before.enabled || after.running != before.running;
  });
}

std::optional<double> MetricSampler::Percent(const MetricSource& source, const MetricSample& begin,
                                             const MetricSample& end) const {
  const double gain = Gain(source, end.slices);
  if (begin.identity != end.identity || end.reference_time_ns <= begin.reference_time_ns || gain == 0) {
    return std::nullopt;
  }
  if (!IsCovered(source, begin, end)) return std::nullopt;
  const double cycles = static_cast<double>(end.reference_time_ns - begin.reference_time_ns) / 1e9 *
                        static_cast<double>(device_.catalog().reference_clock_hz);
  const auto gated = GatedCapacity(source, begin, end);
  if (!gated) return std::nullopt;
  uint64_t counts = 0;
  for (const size_t i : source.events) counts += end.counts[i].count - begin.counts[i].count;
  // Commits that are late or early can push the share above 100 %.
  return std::clamp(100 * static_cast<double>(counts) / (cycles * UngatedGain(source, end.slices) + *gated), 0.0,
                    100.0);
}

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
