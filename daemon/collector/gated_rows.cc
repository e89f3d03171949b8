// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/gated_rows.h"

#include <limits>
#include <span>

namespace sideband::daemon {

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

}  // namespace sideband::daemon
