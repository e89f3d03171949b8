// SPDX-License-Identifier: Apache-2.0
//
// Opcode ROTATE of the extension: shows and changes plans of counter rotation (counter-rotation.md, "Plans";
// proto/mailbox/README.md).
//   RotateCommands commands(device, uploads);
//   commands.Execute(apply, /*bytes in the upload buffer=*/54, /*their CRC-32C=*/crc);
//   commands.Execute(plan, /*VM 1 itself=*/0xFFFF0001, /*byte offset=*/0);
//   Show(commands.stream());
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_ROTATE_COMMANDS_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_ROTATE_COMMANDS_H_

#include <cstdint>
#include <optional>

#include "proto/base/bytes.h"
#include "proto/mailbox/word.h"
#include "secure_mcu/firmware/device.h"
#include "secure_mcu/firmware/reply.h"
#include "secure_mcu/firmware/upload_buffer.h"

namespace sideband::mcu {

// Not thread-safe.
class RotateCommands {
 public:
  // Both must outlive it. The device is one that HasRotation() when a command comes.
  RotateCommands(Device& device, UploadBuffer& uploads) : device_(device), uploads_(uploads) {}

  // A refused command changes no plan.
  Reply Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data);
  // The answer to the last PLAN.
  ByteSpan stream() const { return stream_; }

 private:
  struct Applied {
    uint32_t size = 0;
    uint32_t crc = 0;
    Reply reply;
  };

  Reply OpenPlan(uint32_t scope, uint32_t offset);
  Reply Apply(uint32_t size, uint32_t crc);
  Reply ApplyUpload(uint32_t size, uint32_t crc);

  Device& device_;
  UploadBuffer& uploads_;
  Bytes stream_;
  uint32_t stream_scope_ = 0;
  uint32_t stream_number_ = 0;  // of the plan
  std::optional<Applied> applied_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_ROTATE_COMMANDS_H_
