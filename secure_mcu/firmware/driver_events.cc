// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/driver_events.h"

#include <vector>

#include "proto/base/bytes.h"
#include "secure_mcu/firmware/dwords.h"

namespace sideband::mcu {
namespace {

using mailbox::DriverEvent;
using mailbox::DriverEventStep;
using mailbox::MailboxStatus;

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
