// SPDX-License-Identifier: Apache-2.0
//
// A device with a mailbox, and the bus in front of it, for tests of the controller's side. By default everything works;
// the hooks disturb the bus, the device and its data.
//   FakeMailbox device;
//   device.answer = [](const FakeMailbox::Command&) { return FakeMailbox::Reply{mailbox::MailboxStatus::kErrBusy}; };
//   RegisterPort port(device, FakeMailbox::kAddress, on_outcome);
#ifndef SIDEBAND_DAEMON_MAILBOX_FAKE_MAILBOX_H_
#define SIDEBAND_DAEMON_MAILBOX_FAKE_MAILBOX_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/snapshot/fake_topology.h"
#include "daemon/transport/transport.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/clocks.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/peek.h"
#include "proto/mailbox/snapshot.h"
#include "proto/mailbox/word.h"
#include "proto/smbus/transfer.h"

namespace sideband::daemon {

// A transaction writes a register, or reads one or a window.
inline uint8_t CodeOf(const smbus::Transfer& transfer) { return transfer.messages.at(0).write_bytes.at(0); }
inline bool IsWrite(const smbus::Transfer& transfer) { return transfer.messages.size() == 1; }
inline bool IsWriteOf(const smbus::Transfer& transfer, uint8_t code) {
  return IsWrite(transfer) && CodeOf(transfer) == code;
}
inline bool IsReadOf(const smbus::Transfer& transfer, uint8_t code) {
  return !IsWrite(transfer) && CodeOf(transfer) == code;
}
inline bool IsWindow(const smbus::Transfer& transfer) { return CodeOf(transfer) >= mailbox::kWindowFirst; }

// Not thread-safe.
class FakeMailbox final : public Transport {
 public:
  static constexpr uint8_t kAddress = 0x4F;
  using Result = absl::StatusOr<smbus::TransferResult>;
  struct Command {
    mailbox::CommandWord word;
    uint32_t data = 0;
    uint32_t extended_data = 0;
  };
  struct Reply {
    mailbox::MailboxStatus status = mailbox::MailboxStatus::kSuccess;
    uint32_t data = 0;
    uint32_t extended_data = 0;
  };

  Result Execute(const smbus::Transfer& transfer) override;
  size_t block_bytes_max() const override { return window_bytes; }
  LockFile lock_file() const override { return lock; }

  // Executes a command of another controller.
  void RunElsewhere(const Command& command);
  // Restarts the device: nothing is latched or acknowledged, and the status is READY.
  void Restart(uint64_t boot_id);

  // The commands with this opcode so far, other controllers' excluded.
  std::vector<Command> CommandsOf(mailbox::Opcode opcode) const;

  LockFile lock;  // of the bus

  // The device.
  bool is_present = true;
  mailbox::ExtensionVersion version = mailbox::ExtensionVersion::kOne;
  mailbox::Catalog catalog = SomeCatalog(/*with_secret=*/false);
  mailbox::Snapshot next = SomeSnapshot();  // the next LATCH takes this, with the ids and the hash set; so does PEEK
  uint64_t features = 0;                    // of version 2
  // TRIGGER with the feature of clock domains: the streams, the same for each request, and the selection that was
  // asked for.
  mailbox::Timeline timeline;
  mailbox::ClockHulls hulls;
  uint64_t selected = 0;
  size_t window_bytes = smbus::kBlockBytesMax;
  int busy_polls = 0;  // number of status reads that find a command running

  // Called before each transaction, and with the result of each one.
  std::function<void(const smbus::Transfer&)> before = [](const smbus::Transfer&) {};
  std::function<void(const smbus::Transfer&, Result&)> after = [](const smbus::Transfer&, Result&) {};
  // A reply in place of the device's own. The command is then not executed.
  std::function<std::optional<Reply>(const Command&)> answer = [](const Command&) { return std::nullopt; };
  // Changes the bytes that the windows show when a command opens a stream, but not the length that the device reports.
  std::function<void(Bytes& stream)> spoil = [](Bytes&) {};

  std::vector<smbus::Transfer> transfers;  // all so far
  std::vector<Command> commands;           // all so far, other controllers' excluded

 private:
  Result Carry(const smbus::Transfer& transfer);
  smbus::TransferResult Write(const Bytes& bytes);
  smbus::TransferResult Read(uint8_t code, size_t size);
  Bytes BlockOf(uint8_t code);
  void Run(const Command& command);
  Reply Perform(const Command& command);
  Reply Latch(const Command& command);
  Reply Peek(const Command& command);
  Reply Trigger(const Command& command);
  Reply SetPeekScope(const Command& command);
  Reply Open(Bytes stream, uint32_t offset, uint32_t extended_data);
  mailbox::RegisterSet registers() const {
    return version == mailbox::ExtensionVersion::kOne ? mailbox::kSharedRegisters : mailbox::kOwnRegisters;
  }
  uint32_t ServedOpcodes() const;
  bool HasClocks() const { return (features & mailbox::kClocksFeature) != 0; }
  Bytes CatalogPayload() const;
  Bytes CatalogStream() const;
  Bytes SnapshotStream() const;

  uint32_t data_ = 0;
  uint32_t extended_data_ = 0;
  mailbox::CommandWord status_ = mailbox::CommandWord::Decode(mailbox::kBootWord);
  int busy_ = 0;  // polls until the result appears
  uint32_t snapshot_id_ = 0;
  std::optional<mailbox::Snapshot> latched_;
  std::optional<mailbox::Snapshot> base_;  // the acknowledged snapshot
  bool is_relative_ = false;               // the latched snapshot, to base_
  Bytes stream_;                           // the open one, from the offset of its command
  mailbox::PeekQuestion scope_;            // of PEEK; its bitmap is not used
  mailbox::Snapshot peeked_;               // the state of the last GO
  size_t block_ = 0;                       // of the scope, in `peeked_`
  uint32_t tag_ = 0;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_MAILBOX_FAKE_MAILBOX_H_
