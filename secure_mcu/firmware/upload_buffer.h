// SPDX-License-Identifier: Apache-2.0
//
// Opcode UPLOAD of the extension, and the one buffer that it fills (proto/mailbox/extension.h).
//   UploadBuffer uploads;
//   uploads.Open({.opcode = mailbox::Opcode::kUpload, .arg2 = 32}, /*offset=*/0);
//   uploads.Write(/*window=*/0, bytes);
//   const std::optional<Bytes> content = uploads.Take(bytes.size(), Crc32c(bytes));
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_UPLOAD_BUFFER_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_UPLOAD_BUFFER_H_

#include <cstdint>
#include <optional>

#include "proto/base/bytes.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/word.h"
#include "secure_mcu/firmware/reply.h"

namespace sideband::mcu {

// Not thread-safe.
class UploadBuffer {
 public:
  // ERR_DATA for an offset beyond the buffer.
  Reply Open(const mailbox::CommandWord& command, uint32_t offset);
  // False before the first Open, for more bytes than a window has, and beyond the buffer.
  bool Write(uint8_t window, ByteSpan bytes);
  // The first `size` bytes, which leave the buffer empty; nullopt, and no change, if these are not there or have
  // another CRC-32C.
  std::optional<Bytes> Take(uint32_t size, uint32_t crc);
  // Whether nothing was written since the last Take.
  bool IsEmpty() const { return content_.empty(); }

 private:
  bool is_open_ = false;
  uint32_t offset_ = 0;
  uint32_t window_bytes_ = mailbox::kWindowBytes;
  Bytes content_;  // up to the last byte that was written
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_UPLOAD_BUFFER_H_
