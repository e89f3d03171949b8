// SPDX-License-Identifier: Apache-2.0
//
// Opcode CONFIG of the extension: reads who is counted and what is counted, and changes it in transactions.
// (virtual-counters.md, "CONFIG"; proto/mailbox/README.md.)
//   ConfigCommands commands(device, copy_engine);
//   commands.Execute(begin, /*revision=*/1, 0);
//   commands.Execute(address, PackAddress(vm), PackScope(vm));
//   commands.Execute(write, /*the word:*/ 0b011, 0);
//   // Data: revision 2; extended data: the closing snapshot.
//   commands.Execute(commit, mailbox::ConfigCrc({{vm, 0b011}}), 1);
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_CONFIG_COMMANDS_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_CONFIG_COMMANDS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "proto/base/bytes.h"
#include "proto/mailbox/counting.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/word.h"
#include "secure_mcu/firmware/copy_engine.h"
#include "secure_mcu/firmware/device.h"
#include "secure_mcu/firmware/reply.h"

namespace sideband::mcu {

// How long a transaction waits for its next command before another controller may begin one.
inline constexpr uint64_t kTransactionIdleNs = 5'000'000'000;

// Not thread-safe.
class ConfigCommands {
 public:
  // Both must outlive it.
  ConfigCommands(Device& device, CopyEngine& copy_engine) : device_(device), copy_engine_(copy_engine) {}

  // Whether the device has gate groups; without them CONFIG is not served.
  bool IsServed() { return device_.GetConfig().has_value(); }
  // A refused command changes neither the configuration nor the transaction. A COMMIT that succeeds latches a snapshot
  // of the old configuration, the closing snapshot, relative to the acknowledged one.
  Reply Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data);
  // The answer to the last DUMP.
  ByteSpan stream() const { return stream_; }

 private:
  struct Transaction {
    uint8_t tag = 0;
    uint32_t revision = 0;                              // that it builds on
    uint64_t used_ns = 0;                               // time of the last command
    std::map<mailbox::ConfigAddress, uint64_t> before;  // the configuration at BEGIN
    std::map<mailbox::ConfigAddress, uint64_t> words;
  };
  // A COMMIT that a controller repeats, because its answer was lost, is answered again.
  struct Committed {
    uint8_t tag = 0;
    uint32_t revision = 0;  // that it built on
    uint32_t crc = 0;
    Reply reply;
  };

  Reply Begin(uint8_t tag, uint32_t revision, uint32_t boot);
  Reply SetAddress(uint32_t data, uint32_t extended_data);
  Reply Write(uint64_t word);
  Reply ReadAddressed();
  Reply Commit(uint8_t tag, uint32_t crc, uint32_t revision);
  Reply ApplyWrites();
  Reply Abort();
  Reply Dump(uint32_t offset);

  bool IsOpen() const;
  bool IsOfAnother(uint8_t tag) const { return IsOpen() && open_->tag != tag; }
  std::vector<mailbox::ConfigWrite> Writes() const;
  // What the writes make of the configuration in force now: a guest may have changed fields beside theirs since BEGIN.
  absl::StatusOr<mailbox::CountingConfig> Written() const;

  Device& device_;
  CopyEngine& copy_engine_;
  mailbox::ConfigAddress address_;
  std::optional<Transaction> open_;
  std::optional<Committed> committed_;
  uint32_t closing_id_ = 0;  // the last closing snapshot
  Bytes stream_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_CONFIG_COMMANDS_H_
