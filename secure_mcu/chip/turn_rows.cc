// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/turn_rows.h"

namespace sideband::mcu {

bool TurnRows::IsFree(size_t first, size_t rows) const {
  for (size_t row = first; row < first + rows; ++row) {
    if (used_[row]) return false;
  }
  return true;
}

std::optional<size_t> TurnRows::Take(size_t rows) {
  for (size_t first = 0; first + rows <= used_.size(); ++first) {
    if (!IsFree(first, rows)) continue;
    for (size_t row = first; row < first + rows; ++row) used_.set(row);
    return first;
  }
  return std::nullopt;
}

void TurnRows::Give(size_t first, size_t rows) {
  for (size_t row = first; row < first + rows; ++row) used_.reset(row);
}

}  // namespace sideband::mcu
