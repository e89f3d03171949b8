// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/rates.h"

#include <limits>

#include "proto/mailbox/block_bases.h"

namespace sideband::daemon {
namespace {

constexpr uint64_t kElapsedMaxNs = std::numeric_limits<int64_t>::max();

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

}  // namespace sideband::daemon
