// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/scratch_memory.h"

#include <algorithm>

namespace sideband::mcu {

using mailbox::MailboxStatus;

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

}  // namespace sideband::mcu
