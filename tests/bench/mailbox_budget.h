// SPDX-License-Identifier: Apache-2.0
//
// What snapshots of a device with 8 VMs of 8 contexts and 64 events cost on the bus, counted in bit times while the
// daemon's own reader reads the emulated device: nothing here depends on the machine.
//   SIDEBAND_ASSIGN_OR_RETURN(const MailboxBudget budget, MeasureMailboxBudget("tests/bench/mailbox_budget.yaml"));
//   Print(RowsOf(budget));
#ifndef SIDEBAND_TESTS_BENCH_MAILBOX_BUDGET_H_
#define SIDEBAND_TESTS_BENCH_MAILBOX_BUDGET_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tests/bench/row.h"

namespace sideband::bench {

// One context in eight was active between the last two snapshots, which are a second apart.
struct MailboxBudget {
  uint64_t first = 0;             // bit times of the first snapshot, which is whole
  uint64_t steady = 0;            // and of one after it
  uint64_t changed_counters = 0;  // that it tells of
  uint64_t plain = 0;             // bit times to read each of those as an SMBPBI command with 5D and 5E
  uint64_t zstd_bytes = 0;        // of the raw increments under zstd -19
  uint64_t zstd = 0;              // bit times of these in full windows
};

// Errors are those of the chip file and of the session.
absl::StatusOr<MailboxBudget> MeasureMailboxBudget(const std::string& chip_file);

Rows RowsOf(const MailboxBudget& budget);

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_BENCH_MAILBOX_BUDGET_H_
