// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/rates.h"

#include <limits>
#include <optional>

namespace sideband::daemon {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

bool IsSameBlock(const mailbox::BlockHeader& a, const mailbox::BlockHeader& b) {
  return a.vm == b.vm && a.context == b.context && a.generation == b.generation;
}

// The block of `before` that is the same as `block` of `now`: at the same place unless the topology has changed.
std::optional<size_t> FindBlock(const mailbox::Snapshot& before, const mailbox::Snapshot& now, size_t block) {
  if (block < before.blocks.size() && IsSameBlock(before.blocks[block], now.blocks[block])) return block;
  for (size_t i = 0; i < before.blocks.size(); ++i) {
    if (IsSameBlock(before.blocks[i], now.blocks[block])) return i;
  }
  return std::nullopt;
}

double Rate(uint64_t before, uint64_t now, double seconds) {
  return now < before ? kUnknown : static_cast<double>(now - before) / seconds;
}

}  // namespace

std::vector<double> Rates(const mailbox::Snapshot* before, const mailbox::Snapshot& now) {
  std::vector<double> rates(now.counters.size(), kUnknown);
  const bool comparable = before != nullptr && before->boot_id == now.boot_id &&
                          before->catalog_hash == now.catalog_hash && before->reference_time_ns < now.reference_time_ns;
  if (!comparable) return rates;
  const double seconds = static_cast<double>(now.reference_time_ns - before->reference_time_ns) / 1e9;
  for (size_t block = 0; block < now.blocks.size(); ++block) {
    const auto same = FindBlock(*before, now, block);
    if (!same) continue;
    const auto old_counters = before->Counters(*same), new_counters = now.Counters(block);
    for (size_t i = 0; i < new_counters.size(); ++i) {
      rates[block * now.counters_per_block + i] = Rate(old_counters[i], new_counters[i], seconds);
    }
  }
  return rates;
}

}  // namespace sideband::daemon
