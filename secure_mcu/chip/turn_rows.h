// SPDX-License-Identifier: Apache-2.0
//
// The select registers' numbers for the counter sets of plans: consecutive ones for each plan.
//   TurnRows rows;
//   const std::optional<size_t> first = rows.Take(8);
//   rows.Give(*first, 8);
#ifndef SIDEBAND_SECURE_MCU_CHIP_TURN_ROWS_H_
#define SIDEBAND_SECURE_MCU_CHIP_TURN_ROWS_H_

#include <bitset>
#include <cstddef>
#include <optional>

#include "proto/mailbox/rotation.h"

namespace sideband::mcu {

// Not thread-safe.
class TurnRows {
 public:
  // The lowest rows that are free together; nullopt if there are none.
  std::optional<size_t> Take(size_t rows);
  void Give(size_t first, size_t rows);
  size_t free() const { return mailbox::kRotationSetsMax - used_.count(); }

 private:
  bool IsFree(size_t first, size_t rows) const;

  std::bitset<mailbox::kRotationSetsMax> used_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_TURN_ROWS_H_
