// SPDX-License-Identifier: Apache-2.0
//
// The numbers of rotation of a device's row that the daemon makes of other rows (docs/decisions/0003).
//   RotationSum sum(topology.rotation(), before.data.rotation[0], before.device_row_squares);
//   sum.Add({kNone, {}}, {shown.rotation[block], shown.Counters(block)});   // a row that was not there before
//   shown.rotation[0] = sum.numbers();
#ifndef SIDEBAND_DAEMON_COLLECTOR_ROTATION_SUM_H_
#define SIDEBAND_DAEMON_COLLECTOR_ROTATION_SUM_H_

#include <cstdint>
#include <span>
#include <vector>

#include "daemon/snapshot/rotation.h"
#include "proto/mailbox/rotation.h"

namespace sideband::daemon {

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

#endif  // SIDEBAND_DAEMON_COLLECTOR_ROTATION_SUM_H_
