// SPDX-License-Identifier: Apache-2.0
//
// Removes from a device's snapshot everything that must not be published in plaintext. (security.md, "Sealed records"
// and "Arithmetic on what is public"; docs/decisions/0003 and 0024.)
//   Redacted redacted = Redact(topology, std::move(raw), before.get(), {seconds, is_first_of_boot});
#ifndef SIDEBAND_DAEMON_COLLECTOR_REDACT_H_
#define SIDEBAND_DAEMON_COLLECTOR_REDACT_H_

#include <cstdint>
#include <span>
#include <vector>

#include "daemon/snapshot/device_info.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/snapshot/rotation.h"
#include "daemon/snapshot/topology.h"
#include "proto/mailbox/rotation.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

struct Redacted {
  mailbox::Snapshot shown;
  // Device-scope events must not be shown, since they cannot be attributed to VMs. The device's row excludes
  // confidential VMs and carries kFlagConfidentialExcluded.
  bool device_scope_withheld = false;
  // The device's row must not be shown at all.
  bool device_row_withheld = false;
  // The device's row is made of the shown VMs, since the device's own block has counts of confidential ones.
  bool device_row_is_sum = false;
  // The device's row counts from zero since this snapshot.
  bool device_row_is_new = false;
  // See DeviceSnapshot.
  std::vector<double> device_row_squares;
};

// How a device's row starts that has no published value to continue from.
struct RowStart {
  // Must differ from the generation that an earlier run of the daemon used.
  uint32_t generation;
  // Whether no earlier run of the daemon can have published a row of this boot.
  bool is_first_of_boot;
};

// Returns the publishable part of `raw`, which must have passed CheckAgainst (daemon/mailbox).
//
// Without a confidential VM since the device's boot, `raw` is returned unchanged. Otherwise the blocks of confidential
// VMs are removed and the raw counters wiped; counts of device-scope events stay as they were in `before`, the last
// published snapshot (nullptr: none since the daemon's start).
//
// Where all confidential VMs have been private, the device's own block is its row: it has none of their counts.
//
// Otherwise the row continues from its value in `before`, plus the increments of the shown VMs and of the slices'
// hosts, and does so until the device restarts. It therefore never decreases, and no difference of two published rows
// is a confidential count, but for the time of residence (docs/security.md). All other fields of its header are derived
// from the shown blocks, too. Without a value in `before`, the row starts with the sum of the shown parts if it is the
// first of the boot. Otherwise it starts with zero: an earlier run may have published more than that sum, since VMs may
// have ended, and a scraper would take the lower value for a restart and count everything twice.
//
// All this is the rule kExclude. By kWithhold, the row made so is kept for the time after, and not shown. By kAllow,
// the device's own block is the row, with device-scope events; it has kFlagConfidentialExcluded only where all
// confidential VMs have been private.
Redacted Redact(const Topology& topology, mailbox::Snapshot&& raw, const DeviceSnapshot* before, const RowStart& start,
                Complement rule = Complement::kExclude);

// The numbers of rotation of a device's row that the daemon makes of other rows (docs/decisions/0003).
//
// Adds what rows have gained since an earlier snapshot: no number of the sum ever falls but the deviation, and a row
// that is gone stays in it. Errors of rows are independent, so their squares add. An unknown bound or error makes that
// of the sum unknown, for good; an error that is unknown only for want of turns counts as half of what the bounds
// leave. Of a plan that the catalogue has no longer, only the enabled cycles stay, as on the device.
class RotationSum {
 public:
  // Goes on from a sum: its numbers, and its squares of errors by place. Both may be empty.
  RotationSum(const Rotation& rotation, const mailbox::BlockRotation& before, std::vector<double> squares);

  struct Row {
    const mailbox::BlockRotation& numbers;
    std::span<const uint64_t> counters;
  };
  // One row, then and now. `base` has no numbers for a row that was not there.
  void Add(const Row& base, const Row& now);

  const mailbox::BlockRotation& numbers() const { return numbers_; }
  const std::vector<double>& squares() const { return squares_; }

 private:
  void AddTimes(mailbox::BlockRotation base, const mailbox::BlockRotation& now);
  void AddEvent(size_t event, const Row& base, const Row& now);

  const Rotation& rotation_;
  mailbox::BlockRotation numbers_;
  std::vector<double> squares_;  // NaN: unknown
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_REDACT_H_
