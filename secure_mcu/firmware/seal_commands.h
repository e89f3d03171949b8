// SPDX-License-Identifier: Apache-2.0
//
// Opcode SEAL of the extension: exchanges keys with the guests of confidential VMs, and rotates them (security.md,
// "Sealed records"; the commands are in proto/mailbox/extension.h).
//   SealCommands commands(device, uploads);
//   commands.Execute(challenge, /*VM=*/3, 0);
//   Show(commands.stream());
//   commands.Execute(exchange, /*bytes in the upload buffer=*/1400, /*their CRC-32C=*/crc);
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_SEAL_COMMANDS_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_SEAL_COMMANDS_H_

#include <cstdint>
#include <optional>

#include "proto/base/bytes.h"
#include "proto/mailbox/word.h"
#include "secure_mcu/firmware/block_sealer.h"
#include "secure_mcu/firmware/device.h"
#include "secure_mcu/firmware/reply.h"
#include "secure_mcu/firmware/upload_buffer.h"

namespace sideband::mcu {

// Not thread-safe.
class SealCommands {
 public:
  // Both must outlive it. The device is one with a block_sealer() when a command comes.
  SealCommands(Device& device, UploadBuffer& uploads) : device_(device), uploads_(uploads) {}

  Reply Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data);
  // The challenge or answer of the last command that has one.
  ByteSpan stream() const { return shows_answer_ ? answer_ : challenge_; }
  // Of a command that has succeeded: where its windows begin in the stream; nullopt: it has none.
  static std::optional<uint32_t> OffsetOf(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data);

 private:
  struct Taken {
    uint32_t size = 0;
    uint32_t crc = 0;
    bool operator==(const Taken&) const = default;
  };

  Reply Exchange(const Taken& upload);
  Reply ReadOn(uint32_t offset);
  Reply Draw(uint16_t vm);
  Reply Rotate(uint16_t vm);
  Reply Count(uint16_t vm);
  Bytes StreamOf(ByteSpan payload) const;
  BlockSealer& sealer() { return *device_.block_sealer(); }

  Device& device_;
  UploadBuffer& uploads_;
  Bytes challenge_;
  Bytes answer_;
  bool shows_answer_ = false;
  std::optional<Taken> answered_;  // the request that answer_ is of
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_SEAL_COMMANDS_H_
