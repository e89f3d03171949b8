// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/board_state.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace sideband::mcu {
namespace {

constexpr uint16_t kBanks = 640;

using sim::BoardFault;
using sim::BoardFaultKind;

template <typename Counter>
void Add(uint32_t count, Counter& counter) {
  const uint32_t room = uint32_t{std::numeric_limits<Counter>::max()} - counter;
  counter = count < room ? static_cast<Counter>(counter + count) : std::numeric_limits<Counter>::max();
}

void AddEccErrors(const BoardFault& fault, BoardState& state) {
  EccErrors& errors = fault.memory == mailbox::EccMemory::kSram ? state.sram : state.dram;
  Add(fault.count, fault.uncorrected ? errors.uncorrected : errors.corrected);
}

void RemapRow(const BoardFault& fault, RowRemaps& rows) {
  if (fault.failed) {
    // No spare row was used.
    rows.has_failed = true;
    return;
  }
  Add(1, fault.uncorrected ? rows.uncorrected : rows.corrected);
  rows.is_pending = true;
  if (rows.banks.maximum == 0) return;
  --rows.banks.maximum;
  ++rows.banks.high;
}

void AppendMessage(const BoardFault& fault, uint32_t now_s, BoardState& state) {
  if (state.driver.empty()) state.Raise(mailbox::BoardEvent::kOldestDriverEvent);
  state.driver.Append({.xid = fault.xid, .time_s = now_s, .text = fault.text});
  state.Raise(mailbox::BoardEvent::kNewDriverEvent);
}

// nullptr if the board has no such link.
NvlinkErrors* FindLink(uint8_t link, BoardState& state) {
  return link < state.nvlinks.size() ? &state.nvlinks[link] : nullptr;
}

void TakeLinkDown(const BoardFault& fault, BoardState& state) {
  if (NvlinkErrors* const link = FindLink(fault.link, state)) {
    link->is_up = false;
    link->has_runtime_error = true;
  }
}

void BringLinkUp(const BoardFault& fault, BoardState& state) {
  if (NvlinkErrors* const link = FindLink(fault.link, state)) {
    link->is_up = true;
    // The link has been trained again.
    link->has_training_error = link->has_runtime_error = false;
  }
}

uint32_t& CounterOf(sim::NvlinkError error, NvlinkErrors& link) {
  switch (error) {
    case sim::NvlinkError::kReplay:
      return link.replays;
    case sim::NvlinkError::kRecovery:
      return link.recoveries;
    case sim::NvlinkError::kFlitCrc:
      return link.flit_crc;
    case sim::NvlinkError::kDataCrc:
      break;
  }
  return link.data_crc;
}

void AddNvlinkErrors(const BoardFault& fault, BoardState& state) {
  if (NvlinkErrors* const link = FindLink(fault.link, state)) Add(fault.count, CounterOf(fault.nvlink_error, *link));
}

void AddPcieErrors(const BoardFault& fault, PcieErrors& pcie) {
  switch (fault.pcie_error) {
    case sim::PcieError::kCorrectable:
      return Add(fault.count, pcie.correctable);
    case sim::PcieError::kNonFatal:
      return Add(fault.count, pcie.non_fatal);
    case sim::PcieError::kFatal:
      return Add(fault.count, pcie.fatal);
    case sim::PcieError::kUnsupported:
      return Add(fault.count, pcie.unsupported);
    case sim::PcieError::kReplay:
      return Add(fault.count, pcie.replays);
  }
}

void RequireReset(BoardState& state) {
  state.reset_required = true;
  state.Raise(mailbox::BoardEvent::kResetRequired);
}

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

bool IsPossible(const BoardFault& fault, const BoardSpec& spec) {
  switch (fault.kind) {
    case BoardFaultKind::kEcc:
      return spec.ecc.has_value();
    case BoardFaultKind::kSramThreshold:
      return spec.ecc == EccGeneration::kV6;  // the only one with this flag
    case BoardFaultKind::kRowRemap:
      return spec.row_remapping;
    case BoardFaultKind::kRetirePage:
      return spec.page_retirement;
    case BoardFaultKind::kXid:
      return spec.driver_events;
    case BoardFaultKind::kNvlinkDown:
    case BoardFaultKind::kNvlinkUp:
    case BoardFaultKind::kNvlinkErrors:
      return spec.nvlink && fault.link < spec.nvlink->count;
    case BoardFaultKind::kPcieErrors:
      return spec.pcie.has_value();
    case BoardFaultKind::kPowerConnector:
    case BoardFaultKind::kResetRequired:
    case BoardFaultKind::kDrain:
    case BoardFaultKind::kLoseCapability:
    case BoardFaultKind::kRegainCapability:
      break;
  }
  return true;
}

void Apply(const BoardFault& fault, BoardState& state, uint32_t now_s) {
  switch (fault.kind) {
    case BoardFaultKind::kEcc:
      return AddEccErrors(fault, state);
    case BoardFaultKind::kSramThreshold:
      state.sram_threshold_exceeded = true;
      return;
    case BoardFaultKind::kRowRemap:
      return RemapRow(fault, state.rows);
    case BoardFaultKind::kRetirePage:
      return Add(1, fault.uncorrected ? state.pages.double_bit : state.pages.single_bit);
    case BoardFaultKind::kXid:
      return AppendMessage(fault, now_s, state);
    case BoardFaultKind::kNvlinkDown:
      return TakeLinkDown(fault, state);
    case BoardFaultKind::kNvlinkUp:
      return BringLinkUp(fault, state);
    case BoardFaultKind::kNvlinkErrors:
      return AddNvlinkErrors(fault, state);
    case BoardFaultKind::kPcieErrors:
      return AddPcieErrors(fault, state.pcie);
    case BoardFaultKind::kPowerConnector:
      state.power_is_insufficient = true;
      return;
    case BoardFaultKind::kResetRequired:
      return RequireReset(state);
    case BoardFaultKind::kDrain:
      state.drain_recommended = true;
      return;
    case BoardFaultKind::kLoseCapability:
      state.lost.insert(fault.capability);
      return;
    case BoardFaultKind::kRegainCapability:
      state.lost.erase(fault.capability);
      return;
  }
}

}  // namespace sideband::mcu
