// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/board/board_state.h"

namespace sideband::mcu {
namespace {

constexpr uint16_t kBanks = 640;

}  // namespace

BoardState::BoardState(const BoardSpec& spec) : nvlinks(spec.nvlink ? spec.nvlink->count : 0) {
  if (spec.row_remapping) rows.banks.maximum = kBanks;
}

}  // namespace sideband::mcu
