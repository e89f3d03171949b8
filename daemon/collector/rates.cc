// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/rates.h"

#include <limits>

#include "proto/mailbox/block_bases.h"

namespace sideband::daemon {
namespace {

constexpr uint64_t kElapsedMaxNs = std::numeric_limits<int64_t>::max();
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

double Rate(uint64_t before, uint64_t now, double seconds) {
  return now < before ? kUnknown : static_cast<double>(now - before) / seconds;
}

}  // namespace

absl::Duration Elapsed(const mailbox::Snapshot* before, const mailbox::Snapshot& now) {
  // Reference times of two boots are not comparable (docs/design/clocks.md).
  const bool comparable = before != nullptr && before->boot_id == now.boot_id &&
                          before->catalog_hash == now.catalog_hash && before->reference_time_ns < now.reference_time_ns;
  if (!comparable) return absl::ZeroDuration();
  const uint64_t elapsed_ns = now.reference_time_ns - before->reference_time_ns;
  // A jump by centuries is a fault.
  return elapsed_ns > kElapsedMaxNs ? absl::ZeroDuration() : absl::Nanoseconds(elapsed_ns);
}

std::vector<double> Rates(const mailbox::Snapshot* before, const mailbox::Snapshot& now) {
  std::vector<double> rates(now.counters.size(), kUnknown);
  const absl::Duration elapsed = Elapsed(before, now);
  if (elapsed == absl::ZeroDuration()) return rates;
  const double seconds = absl::ToDoubleSeconds(elapsed);
  const mailbox::BlockBases bases(now.blocks, before);
  for (size_t block = 0; block < now.blocks.size(); ++block) {
    const mailbox::BaseBlock same = bases.Of(block);
    // No block of the same scope and generation: the rates stay unknown.
    if (same.header == nullptr) continue;
    const auto old_counters = same.counters, new_counters = now.Counters(block);
    for (size_t i = 0; i < new_counters.size(); ++i) {
      rates[block * now.counters_per_block + i] = Rate(old_counters[i], new_counters[i], seconds);
    }
  }
  return rates;
}

}  // namespace sideband::daemon
