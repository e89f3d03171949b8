// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/published_rows.h"

#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "daemon/snapshot/device_snapshot.h"
#include "proto/mailbox/blocks.h"

namespace sideband::daemon {
namespace {

uint64_t Increment(uint64_t before, uint64_t now) { return now > before ? now - before : 0; }

}  // namespace

mailbox::PipelineStatistics PipelineIncrements::Since(uint64_t boot_id, const mailbox::PipelineStatistics& now) {
  // A restarted device counts from zero.
  if (boot_id != boot_id_) last_ = {};
  boot_id_ = boot_id;
  const mailbox::PipelineStatistics before = std::exchange(last_, now);
  return {.stall_cycles = Increment(before.stall_cycles, now.stall_cycles),
          .trigger_overruns = Increment(before.trigger_overruns, now.trigger_overruns),
          .commit_wait_cycles = Increment(before.commit_wait_cycles, now.commit_wait_cycles),
          .mmu_faults = Increment(before.mmu_faults, now.mmu_faults),
          .switches = Increment(before.switches, now.switches),
          .switch_cycles = Increment(before.switch_cycles, now.switch_cycles),
          .rotation_inconsistencies = Increment(before.rotation_inconsistencies, now.rotation_inconsistencies)};
}

namespace {

constexpr uint64_t kElapsedMaxNs = std::numeric_limits<int64_t>::max();

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

// The most by which the truth may exceed what was counted.
std::optional<uint64_t> Missed(const DeviceSnapshot& snapshot, size_t row, size_t event) {
  const auto estimate = snapshot.EstimateOf(row, event);
  if (!estimate) return 0;
  if (estimate->upper == mailbox::kUnknownNumber || estimate->upper < estimate->lower) return std::nullopt;
  return estimate->upper - estimate->lower;
}

RateBounds Bounds(const DeviceSnapshot& before, size_t was, const DeviceSnapshot& now, size_t row, size_t event,
                  double seconds) {
  const double counted = RateOf(before.data.Counters(was)[event], now.data.Counters(row)[event], seconds);
  const auto missed = Missed(before, was, event), misses = Missed(now, row, event);
  const double more = missed && misses ? RateOf(*missed, *misses, seconds) : kUnbounded;
  return {counted, std::isnan(more) ? kUnbounded : counted + more};
}

// False: the event missed all of the interval's own cycles, so that its estimate stood still.
bool IsCountedSince(const DeviceSnapshot& before, size_t was, const DeviceSnapshot& now, size_t row, size_t event) {
  const auto then = before.EstimateOf(was, event), estimate = now.EstimateOf(row, event);
  if (!then || !estimate) return true;
  return estimate->time.running != then->time.running || estimate->time.enabled == then->time.enabled;
}

// Flags of numbers that add all the same.
constexpr uint16_t kAdditive = mailbox::kFlagEstimated | mailbox::kFlagRotationInconsistent;

// Whether the device's block has none of the VM's counts.
bool IsPrivate(const Topology& topology, uint16_t id) {
  const mailbox::VmInfo* const vm = topology.FindVm(id);
  return vm != nullptr && vm->is_private;
}

// The sum of the rows that make up one larger row.
class Sum {
 public:
  explicit Sum(size_t events) : counted_(events, 0), shown_(events, 0) {}

  void Add(const Rotation& rotation, const mailbox::Snapshot& raw, size_t block) {
    flags_ |= raw.blocks[block].flags;
    const auto counters = raw.Counters(block);
    for (size_t i = 0; i < counted_.size(); ++i) {
      counted_[i] += counters[i];
      shown_[i] += rotation.Shown(raw, block, i);
    }
  }

  bool IsWithin(const Topology& topology, const mailbox::Snapshot& raw, size_t block) const {
    // A flagged row may be inexact, and so may a sum that includes one. Estimates add like counts.
    if (((flags_ | raw.blocks[block].flags) & ~kAdditive) != 0) return true;
    const auto whole = raw.Counters(block);
    for (size_t i = 0; i < counted_.size(); ++i) {
      // Events of device scope are counted in the device's row alone.
      if (topology.catalog().events[i].scope != mailbox::EventScope::kContext) continue;
      if (counted_[i] > whole[i] || shown_[i] > topology.rotation().Shown(raw, block, i)) return false;
    }
    return true;
  }

 private:
  mailbox::CounterValues counted_, shown_;
  uint16_t flags_ = 0;
};

}  // namespace

absl::Duration Elapsed(const DeviceSnapshot* before, const DeviceSnapshot& now) {
  // Reference times of two boots are not comparable (docs/design/clocks.md).
  const bool comparable = before != nullptr && before->data.boot_id == now.data.boot_id &&
                          before->data.reference_time_ns < now.data.reference_time_ns &&
                          CountsTheSame(*before->topology, *now.topology);
  if (!comparable) return absl::ZeroDuration();
  const uint64_t elapsed_ns = now.data.reference_time_ns - before->data.reference_time_ns;
  // A jump by centuries is a fault.
  return elapsed_ns > kElapsedMaxNs ? absl::ZeroDuration() : absl::Nanoseconds(elapsed_ns);
}

double RateOf(uint64_t before, uint64_t now, double seconds) {
  return now < before ? kUnknownRate : static_cast<double>(now - before) / seconds;
}

std::vector<double> Rates(const DeviceSnapshot* before, const DeviceSnapshot& now) {
  const mailbox::Snapshot& data = now.data;
  std::vector<double> rates(data.counters.size(), kUnknownRate);
  const absl::Duration elapsed = Elapsed(before, now);
  if (elapsed == absl::ZeroDuration()) return rates;
  const double seconds = absl::ToDoubleSeconds(elapsed);
  const mailbox::BlockBases bases(data.blocks, &before->data);
  for (size_t block = 0; block < data.blocks.size(); ++block) {
    const mailbox::BaseBlock same = bases.Of(block);
    // No block of the same scope and generation: the rates stay unknown.
    if (same.header == nullptr) continue;
    const auto old_counters = same.counters, new_counters = data.Counters(block);
    for (size_t i = 0; i < new_counters.size(); ++i) {
      rates[block * data.counters_per_block + i] = RateOf(old_counters[i], new_counters[i], seconds);
    }
  }
  return rates;
}

void FlagPartialRows(const Coverage& coverage, mailbox::Snapshot& shown) {
  if (!coverage.has_gates()) return;
  for (size_t row = 0; row < shown.blocks.size(); ++row) {
    if (!coverage.IsWhole(shown.Counters(row))) shown.blocks[row].flags |= mailbox::kFlagPartial;
  }
}

void DropUncountedRates(const Coverage& coverage, size_t counters_per_row, std::vector<double>& rates) {
  if (!coverage.has_gates()) return;
  for (size_t start = 0; start + counters_per_row <= rates.size(); start += counters_per_row) {
    const std::span<double> row = std::span(rates).subspan(start, counters_per_row);
    for (size_t event = 0; event < row.size(); ++event) {
      if (coverage.OfRate(event, row) == 0) row[event] = std::numeric_limits<double>::quiet_NaN();
    }
  }
}

void FlagRotatedRows(DeviceSnapshot& snapshot) {
  if (snapshot.estimated.empty()) return;
  for (size_t row = 0; row < snapshot.data.blocks.size(); ++row) {
    uint16_t& flags = snapshot.data.blocks[row].flags;
    flags |= mailbox::kFlagEstimated | mailbox::kFlagPartial;  // FlagsOf takes away those that do not hold
    flags = snapshot.FlagsOf(row, std::vector<bool>(snapshot.data.counters_per_block, true));
  }
}

void RateEstimates(const DeviceSnapshot& before, DeviceSnapshot& now) {
  if (now.estimated.empty()) return;
  const double seconds = absl::ToDoubleSeconds(now.elapsed);
  const mailbox::BlockBases bases(now.data.blocks, &before.data);
  now.rate_bounds.resize(now.rates.size());
  for (size_t row = 0; row < now.data.blocks.size(); ++row) {
    const size_t was = bases.PlaceOf(row);
    for (size_t event = 0; event < now.data.counters_per_block; ++event) {
      const size_t at = row * now.data.counters_per_block + event;
      now.rate_bounds[at] = {now.rates[at], now.rates[at]};
      if (std::isnan(now.rates[at]) || !now.topology->rotation().IsRotated(event)) continue;
      const bool is_known =
          before.IsShown(was, event) && now.IsShown(row, event) && IsCountedSince(before, was, now, row, event);
      now.rates[at] = is_known ? RateOf(before.Shown(was)[event], now.Shown(row)[event], seconds) : kUnknownRate;
      now.rate_bounds[at] = Bounds(before, was, now, row, event, seconds);
    }
  }
}

bool CheckConservation(const Topology& topology, const mailbox::Snapshot& raw) {
  const Rotation& rotation = topology.rotation();
  absl::flat_hash_map<uint16_t, Sum> contexts_of;  // keyed by VM
  Sum parts(raw.counters_per_block);               // of the device: VMs and hosts
  for (size_t block = 0; block < raw.blocks.size(); ++block) {
    const mailbox::BlockHeader& header = raw.blocks[block];
    const Level level = LevelOf(header);
    const bool is_part = level == Level::kHost || (level == Level::kVm && !IsPrivate(topology, header.vm));
    if (is_part) parts.Add(rotation, raw, block);
    if (level == Level::kContext) {
      contexts_of.try_emplace(header.vm, raw.counters_per_block).first->second.Add(rotation, raw, block);
    }
  }
  for (size_t block = 0; block < raw.blocks.size(); ++block) {
    const mailbox::BlockHeader& header = raw.blocks[block];
    const Level level = LevelOf(header);
    if (level == Level::kDevice && !parts.IsWithin(topology, raw, block)) return false;
    if (level != Level::kVm) continue;
    const auto contexts = contexts_of.find(header.vm);
    if (contexts != contexts_of.end() && !contexts->second.IsWithin(topology, raw, block)) return false;
  }
  return true;
}

}  // namespace sideband::daemon
