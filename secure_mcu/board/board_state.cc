// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/board/board_state.h"

#include <algorithm>
#include <utility>

namespace sideband::mcu {
namespace {

constexpr uint16_t kBanks = 640;

}  // namespace

void DriverMessages::Append(mailbox::DriverEvent event) {
  event.sequence = ++last_;
  if (events_.size() == kKept) {
    events_.back().later_lost = true;
    return;
  }
  events_.push_back(std::move(event));
}

std::optional<mailbox::DriverEvent> DriverMessages::TakeOldest() {
  if (events_.empty()) return std::nullopt;
  mailbox::DriverEvent event = std::move(events_.front());
  events_.pop_front();
  return event;
}

std::optional<mailbox::DriverEvent> DriverMessages::FindFrom(uint32_t sequence) const {
  const auto found = std::ranges::find_if(events_, [&](const auto& event) { return event.sequence >= sequence; });
  return found == events_.end() ? std::nullopt : std::optional(*found);
}

std::optional<mailbox::DriverEvent> DriverMessages::FindSince(uint32_t time_s) const {
  const auto found = std::ranges::find_if(events_, [&](const auto& event) { return event.time_s >= time_s; });
  return found == events_.end() ? std::nullopt : std::optional(*found);
}

BoardState::BoardState(const BoardSpec& spec) : nvlinks(spec.nvlink ? spec.nvlink->count : 0) {
  if (spec.row_remapping) rows.banks.maximum = kBanks;
}

}  // namespace sideband::mcu
