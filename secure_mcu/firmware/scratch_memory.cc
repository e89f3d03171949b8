// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/scratch_memory.h"

#include <algorithm>
#include <vector>

#include "proto/base/bytes.h"
#include "secure_mcu/firmware/system_info.h"

namespace sideband::mcu {
namespace {

using mailbox::DriverEvent;
using mailbox::DriverEventStep;
using mailbox::MailboxStatus;

}  // namespace

Reply ScratchMemory::Read(uint8_t dword) const { return {.data = pages_[source_][dword]}; }

Reply ScratchMemory::Write(uint8_t dword, uint8_t count_less_one, uint32_t value) {
  const size_t count = size_t{count_less_one} + 1;
  if (dword + count > kPageDwords) return Fail(MailboxStatus::kErrArg2);
  std::fill_n(pages_[destination_].begin() + dword, count, value);
  return {};
}

Reply ScratchMemory::Copy(uint8_t dword, uint8_t count_less_one, uint32_t from) {
  const size_t count = size_t{count_less_one} + 1;
  if (dword + count > kPageDwords) return Fail(MailboxStatus::kErrArg2);
  if (from >= kPageDwords || from + count > kPageDwords) return Fail(MailboxStatus::kErrData);
  const Page source = pages_[source_];  // a copy: the page may be the destination, too
  std::copy_n(source.begin() + from, count, pages_[destination_].begin() + dword);
  return {};
}

bool ScratchMemory::SelectPages(uint32_t pages) {
  const size_t destination = pages & 0xFF, source = pages >> 8;
  if (destination >= kPages || source >= kPages) return false;
  destination_ = destination;
  source_ = source;
  return true;
}

bool ScratchMemory::Put(uint8_t dword, std::span<const uint32_t> values) {
  if (dword + values.size() > kPageDwords) return false;
  std::copy(values.begin(), values.end(), pages_[destination_].begin() + dword);
  return true;
}

std::span<const uint32_t> ScratchMemory::Parameters(uint8_t dword, size_t count) const {
  if (dword + count > kPageDwords) return {};
  return std::span(pages_[destination_]).subspan(dword, count);
}

namespace {

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

namespace {

constexpr uint8_t kSteps = 3;

// A record is a multiple of four bytes.
std::vector<uint32_t> DwordsOf(ByteSpan record) {
  std::vector<uint32_t> dwords(record.size() / 4);
  for (size_t i = 0; i < dwords.size(); ++i) dwords[i] = DwordOf(record, i);
  return dwords;
}

}  // namespace

Reply DriverEvents::Get(uint8_t step, uint8_t dword, uint32_t data) {
  if (step >= kSteps) return Fail(MailboxStatus::kErrArg1);
  const auto event = Find(static_cast<DriverEventStep>(step), data);
  if (!event) return Fail(MailboxStatus::kErrNotAvailable);
  const Bytes record = event->Encode();
  if (!scratch_.Put(dword, DwordsOf(record))) return Fail(MailboxStatus::kErrArg2);
  // Removes the record only after it has been stored: otherwise a failed command would lose it.
  if (static_cast<DriverEventStep>(step) == DriverEventStep::kOldest) messages_.TakeOldest();
  return {.data = static_cast<uint32_t>(record.size())};
}

std::optional<DriverEvent> DriverEvents::Find(DriverEventStep step, uint32_t data) const {
  switch (step) {
    case DriverEventStep::kOldest:
      return messages_.FindFrom(0);
    case DriverEventStep::kBySequence:
      return messages_.FindFrom(data);
    case DriverEventStep::kByTime:
      return messages_.FindSince(data);
  }
  return std::nullopt;
}

}  // namespace sideband::mcu
