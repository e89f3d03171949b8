// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/event_registers.h"

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;

constexpr uint8_t kWrite = 0, kRead = 1;
enum Index : uint8_t { kScratchPages = 0, kPending = 1, kMask = 2 };

}  // namespace

Reply EventRegisters::Access(uint8_t arg1, uint8_t arg2, uint32_t data) {
  if (arg1 != kWrite && arg1 != kRead) return Fail(MailboxStatus::kErrArg1);
  if (arg2 > kMask) return Fail(MailboxStatus::kErrArg2);
  return arg1 == kWrite ? Write(arg2, data) : Read(arg2);
}

Reply EventRegisters::Write(uint8_t index, uint32_t data) {
  if (index == kScratchPages) return scratch_.SelectPages(data) ? Reply{} : Fail(MailboxStatus::kErrData);
  if (index == kPending) {
    // A controller can clear events and raise none.
    pending_ = Pending() & data;
    followed_ = board_.raised;
    return {};
  }
  if ((data & ~kEverything) != 0) return Fail(MailboxStatus::kErrData);
  mask_ = data;
  return {};
}

Reply EventRegisters::Read(uint8_t index) const {
  if (index == kScratchPages) return {.data = scratch_.pages()};
  return {.data = index == kPending ? Pending() : mask_};
}

uint32_t EventRegisters::Pending() const {
  uint32_t raised = 0;
  for (const mailbox::BoardEventRow& row : mailbox::kBoardEvents) {
    const auto index = static_cast<size_t>(row.event);
    if (board_.raised[index] != followed_[index]) raised |= MaskOf(row.event);
  }
  return pending_ | raised;
}

}  // namespace sideband::mcu
