// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/upload_buffer.h"

#include <algorithm>

namespace sideband::mcu {

using mailbox::MailboxStatus;

Reply UploadBuffer::Open(const mailbox::CommandWord& command, uint32_t offset) {
  if (command.arg1 != 0) return Fail(MailboxStatus::kErrArg1);
  if (offset >= mailbox::kUploadBytesMax) return Fail(MailboxStatus::kErrData);
  is_open_ = true;
  offset_ = offset;
  window_bytes_ = command.arg2 == 0 ? mailbox::kWindowBytes : command.arg2;
  return {.data = offset, .extended_data = mailbox::kUploadBytesMax};
}

bool UploadBuffer::Write(uint8_t window, ByteSpan bytes) {
  const size_t begin = offset_ + size_t{window} * window_bytes_, end = begin + bytes.size();
  if (!is_open_ || bytes.size() > window_bytes_ || end > mailbox::kUploadBytesMax) return false;
  content_.resize(std::max(content_.size(), end));
  std::copy(bytes.begin(), bytes.end(), content_.begin() + static_cast<ptrdiff_t>(begin));
  return true;
}

std::optional<Bytes> UploadBuffer::Take(uint32_t size, uint32_t crc) {
  if (size > content_.size() || Crc32c(ByteSpan(content_).first(size)) != crc) return std::nullopt;
  Bytes taken(content_.begin(), content_.begin() + size);
  content_.clear();
  return taken;
}

}  // namespace sideband::mcu
