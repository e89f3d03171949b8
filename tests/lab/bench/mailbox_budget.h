// SPDX-License-Identifier: Apache-2.0
//
// The bus cost of snapshots of a device with 8 VMs of 8 contexts and 64 events, in bit times, while the daemon's own
// reader reads the emulated device. The results do not depend on the machine.
//   SIDEBAND_ASSIGN_OR_RETURN(const MailboxBudget budget,
//                             MeasureMailboxBudget("tests/lab/bench/mailbox_budget.yaml", version, Scenario::kSteady));
//   Print(RowsOf(budget));
//   SIDEBAND_ASSIGN_OR_RETURN(const PeekBudget peeks, MeasurePeekBudget("tests/lab/bench/mailbox_budget.yaml"));
//   SIDEBAND_ASSIGN_OR_RETURN(const CommitBudget commit, MeasureCommitBudget("tests/lab/bench/mailbox_budget.yaml"));
#ifndef SIDEBAND_TESTS_LAB_BENCH_MAILBOX_BUDGET_H_
#define SIDEBAND_TESTS_LAB_BENCH_MAILBOX_BUDGET_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "daemon/transport/transport.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/snapshot.h"
#include "proto/smbus/transfer.h"
#include "tests/lab/bench/measurement.h"

namespace sideband::bench {

// A daemon transport to a bus in this process; it counts transactions and bit times. Not thread-safe.
class CountingBus final : public daemon::Transport {
 public:
  // `bus` must outlive it.
  explicit CountingBus(smbus::Bus& bus) : bus_(bus) {}

  absl::StatusOr<smbus::TransferResult> Execute(const smbus::Transfer& transfer) override {
    smbus::TransferResult result = bus_.Execute(transfer);
    bit_times_ += smbus::BitTimes(transfer, result);
    ++transactions_;
    return result;
  }

  uint64_t bit_times() const { return bit_times_; }
  uint64_t transactions() const { return transactions_; }

 private:
  smbus::Bus& bus_;
  uint64_t bit_times_ = 0;
  uint64_t transactions_ = 0;
};

// A lower bound for the size of a snapshot's increments: the information of each increment that no sum of others
// implies, under the best of several adaptive models.
// The increments of contexts only: those of VMs and of the device are their sums. A model predicts a number for each
// increment, and codes the width of the difference by the frequencies of the widths so far (Krichevsky-Trofimov), then
// the difference's bits below its highest one, which are incompressible. The models predict nothing, a counter's share
// of the sum of its context's increments, and its share by the counter before in the catalogue. Both snapshots have the
// same blocks.
uint64_t IncrementBoundBytes(const mailbox::Snapshot& before, const mailbox::Snapshot& now);

// The activity between the last two snapshots, which are a second apart.
enum class Scenario {
  kOneInEight,  // one context in eight is active all the time
  kSteady,      // all contexts are active in turn, and do what they did before
};

struct MailboxBudget {
  Scenario scenario = Scenario::kOneInEight;
  uint64_t first = 0;             // bit times of the first snapshot, which is complete
  uint64_t steady = 0;            // bit times of a later snapshot
  uint64_t changed_counters = 0;  // number of counters that changed in the later snapshot
  uint64_t plain = 0;             // bit times to read each of these as an SMBPBI command with 5D and 5E
  double version_1 = 0;           // mean bit times of such a snapshot as a stream of version 1, and of version 2
  double version_2 = 0;
  uint64_t zstd_bytes = 0;   // size of the raw increments under zstd -19
  uint64_t zstd = 0;         // bit times of zstd_bytes in full windows
  uint64_t bound_bytes = 0;  // IncrementBoundBytes() of the later snapshot
  uint64_t bound = 0;        // bit times of bound_bytes in full windows
};

// The chip serves `version` of the extension, whatever its file says. Errors are those of the chip file and of the
// session.
absl::StatusOr<MailboxBudget> MeasureMailboxBudget(const std::string& chip_file, mailbox::ExtensionVersion version,
                                                   Scenario scenario);

Rows RowsOf(const MailboxBudget& budget);

// Bit times of reading counters of one context, on the same device.
struct PeekBudget {
  uint64_t one = 0;            // a peek of one counter
  uint64_t all = 0;            // a peek of 64 counters
  uint64_t snapshot = 0;       // a later snapshot of the device, one context in eight active, as a stream of version 1
  uint64_t predicted = 0;      // the same of version 2, which predicts these closed-form workloads exactly
  uint64_t plain = 0;          // 64 SMBPBI commands
  bool is_as_computed = true;  // the daemon's own estimate is exact (proto/mailbox/snapshot.h)
};

absl::StatusOr<PeekBudget> MeasurePeekBudget(const std::string& chip_file);

Rows RowsOf(const PeekBudget& budget);

// Bit times of a change of one VM's words of counting, on the same device with a gate group.
struct CommitBudget {
  uint64_t change = 0;   // BEGIN to COMMIT, and the closing snapshot
  uint64_t latch = 0;    // a snapshot as long after the one before
  uint64_t command = 0;  // one step of the change
  uint64_t words = 0;    // written by it

  // Beyond the snapshot, as steps.
  double commands() const { return static_cast<double>(change - latch) / static_cast<double>(command); }
};

absl::StatusOr<CommitBudget> MeasureCommitBudget(const std::string& chip_file);

Rows RowsOf(const CommitBudget& budget);

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_LAB_BENCH_MAILBOX_BUDGET_H_
