// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/estimated_rows.h"

#include <cmath>
#include <limits>

#include "daemon/collector/rates.h"
#include "proto/mailbox/block_bases.h"

namespace sideband::daemon {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

// What the truth has missed of a count at most.
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

}  // namespace

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

}  // namespace sideband::daemon
