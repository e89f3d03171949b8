// SPDX-License-Identifier: Apache-2.0
//
// The commands of the snapshot extension (proto/mailbox/README.md): latch the whole device, and stream the snapshot in
// windows. A class here for each of its other opcodes.
//   SnapshotCommands commands(device, mailbox::ExtensionVersion::kTwo);
//   const CommandHandler::Reply latched = commands.Execute({.opcode = mailbox::Opcode::kLatch}, 0, 0);
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_EXTENSION_COMMANDS_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_EXTENSION_COMMANDS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "proto/base/bytes.h"
#include "proto/mailbox/counting.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/peek.h"
#include "proto/mailbox/word.h"
#include "secure_mcu/firmware/command_handler.h"
#include "secure_mcu/firmware/copy_engine.h"
#include "secure_mcu/firmware/device.h"

namespace sideband::mcu {

// Opcode UPLOAD of the extension, and the one buffer that it fills (proto/mailbox/extension.h). Not thread-safe.
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

// How long a transaction of CONFIG waits for its next command before another controller may begin one.
inline constexpr uint64_t kTransactionIdleNs = 5'000'000'000;

// Opcode CONFIG of the extension: reads who is counted and what is counted, and changes it in transactions.
// (virtual-counters.md, "CONFIG"; proto/mailbox/README.md.) Not thread-safe.
class ConfigCommands {
 public:
  // Both must outlive it.
  ConfigCommands(Device& device, CopyEngine& copy_engine) : device_(device), copy_engine_(copy_engine) {}

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
  // The configuration in force now with the writes in it: a guest may have changed fields beside theirs since BEGIN.
  absl::StatusOr<mailbox::CountingConfig> Written() const;

  Device& device_;
  CopyEngine& copy_engine_;
  mailbox::ConfigAddress address_;
  std::optional<Transaction> open_;
  std::optional<Committed> committed_;
  uint32_t closing_id_ = 0;  // the last closing snapshot
  Bytes stream_;
};

// Opcode PEEK of the extension: a few live counters of one memory block, without a latch of the device.
// (registers.md, "Out of band: opcode 67 PEEK"; proto/mailbox/README.md, "PEEK".) Not thread-safe.
class PeekCommands {
 public:
  // `device` must outlive it.
  explicit PeekCommands(Device& device) : device_(device) {}

  // A refused command changes nothing. What is denied (confidential VMs, and the device's block beside their counts)
  // takes the path of what does not exist, before the device counts up to now.
  Reply Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data);
  // The answer to the last GO that was not refused.
  ByteSpan stream() const { return stream_; }
  // Another command came in between: no later GO is of the last one's latch.
  void EndLatch() { latch_.reset(); }

 private:
  struct Scope {
    uint32_t manager = 0;
    uint16_t vm = 0;
    uint16_t context = 0;
    bool IsOfSameBlock(const Scope& other) const { return vm == other.vm && context == other.context; }
    bool IsDevice() const { return vm == mailbox::kHypervisorVm && context == mailbox::kNoContext; }
    bool IsOfSameLatch() const { return (manager & mailbox::kPeekSameLatch) != 0; }
    // The number of the extend's first event.
    size_t FirstEvent() const { return mailbox::kPeekCountersMax * (manager & mailbox::kPeekExtendMask); }
  };
  struct Latch {
    Scope scope;
    LiveBlock block;
  };

  Reply SetScope(const Scope& scope);
  Reply Go(uint64_t bitmap);
  // The catalogue has the block, and its counters may be shown.
  bool HasBlock(const Scope& scope) const;
  // The events of the scope's extend that the block counts, as a bitmap.
  uint64_t EventsOf(const Scope& scope) const;
  bool HoldsLatch(const Scope& scope) const { return latch_ && latch_->scope.IsOfSameBlock(scope); }
  void Answer(uint64_t bitmap);

  Device& device_;
  std::optional<Scope> scope_;
  std::optional<Latch> latch_;  // of the last GO
  uint32_t tag_ = 0;
  Bytes stream_;
};

// Opcode ROTATE of the extension: shows and changes plans of counter rotation (counter-rotation.md, "Plans";
// proto/mailbox/README.md). Not thread-safe.
class RotateCommands {
 public:
  // Both must outlive it. The device is one with a rotation() when a command comes.
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

// Opcode SEAL of the extension: exchanges keys with the guests of confidential VMs, and rotates them (security.md,
// "Sealed records"; the commands are in proto/mailbox/extension.h). Not thread-safe.
class SealCommands {
 public:
  // Both must outlive it. The device is one with a block_sealer() when a command comes.
  SealCommands(Device& device, UploadBuffer& uploads) : device_(device), uploads_(uploads) {}

  Reply Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data);
  // The challenge or answer of the last command that has one.
  ByteSpan stream() const { return shows_answer_ ? answer_ : challenge_; }
  // Where the windows of a command that has succeeded begin in the stream; nullopt: it has none.
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

// Opcode TRIGGER of the extension: bank swaps that controllers ask for, and what they tell of clocks and of work.
// (proto/mailbox/README.md, "TRIGGER"; proto/mailbox/extension.h, TriggerStep.) Not thread-safe.
class TriggerCommands {
 public:
  // `device` must outlive it, and be one with triggers() when a command comes.
  explicit TriggerCommands(Device& device) : device_(device) {}

  // A refused command changes nothing.
  Reply Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data);

  // TIMELINE and HULLS, whose second datum is the offset of the windows.
  static bool OpensStream(const mailbox::CommandWord& command);
  // The answer to the last of these.
  ByteSpan stream() const { return stream_; }

 private:
  Reply OfDomains(mailbox::TriggerStep step, uint32_t data, uint32_t extended_data);
  Reply Select(uint64_t domains);
  Reply Bookmark(uint32_t scope, uint32_t bookmark);
  Reply Open(mailbox::TriggerStep step, uint32_t first_trigger_id, uint32_t offset);
  void MakeStream(mailbox::TriggerStep step, uint32_t first_trigger_id);

  Device& device_;
  Bytes stream_;
  mailbox::TriggerStep stream_step_ = mailbox::TriggerStep::kTimeline;
  uint32_t stream_first_ = 0;
  uint32_t stream_newest_ = 0;
};

// CATALOG, LATCH, READ and ACK, and the way to the others. Not thread-safe.
class SnapshotCommands {
 public:
  // `device` must outlive it.
  SnapshotCommands(Device& device, mailbox::ExtensionVersion version)
      : device_(device),
        version_(version),
        copy_engine_(device, version),
        peeks_(device),
        configs_(device, copy_engine_),
        rotations_(device, uploads_),
        seals_(device, uploads_),
        triggers_(device) {}

  // ERR_OPCODE for opcodes that are not served.
  Reply Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data);
  // The same as CommandHandler::Window.
  ByteSpan Window(uint8_t index) const;
  bool WriteWindow(uint8_t index, ByteSpan bytes) { return uploads_.Write(index, bytes); }

 private:
  // The stream shown by the windows, from offset_ on.
  enum class Open { kNothing, kCatalog, kSnapshot, kPeek, kConfig, kPlan, kTriggers, kExchange };

  using Handler = Reply (SnapshotCommands::*)(const mailbox::CommandWord& command, uint32_t data,
                                              uint32_t extended_data);
  struct Row {
    mailbox::Opcode opcode;
    bool (*is_served)(Device& device);
    Handler execute;
    bool ends_peek = true;  // whether a peek's latch ends with it, as with an opcode that is not served
  };
  static const Row kRows[];

  // nullptr: not served.
  const Row* RowOf(mailbox::Opcode opcode);
  uint32_t ServedOpcodes();
  uint64_t Features();
  Reply Discover(const mailbox::CommandWord& command, uint32_t, uint32_t);
  Reply ReadCatalog(const mailbox::CommandWord& command, uint32_t offset, uint32_t);
  Reply Latch(const mailbox::CommandWord& command, uint32_t base_id, uint32_t);
  Reply ReadSnapshot(const mailbox::CommandWord& command, uint32_t offset, uint32_t extended_data);
  Reply Acknowledge(const mailbox::CommandWord& command, uint32_t snapshot_id, uint32_t);
  Reply Upload(const mailbox::CommandWord& command, uint32_t data, uint32_t);
  Reply Peek(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data);
  Reply Rotate(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data);
  Reply Seal(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data);
  Reply Config(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data);
  Reply Trigger(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data);
  // The mark of a snapshot of this boot.
  uint16_t MarkOf(uint32_t snapshot_id) const;
  Reply OpenAt(ByteSpan stream, Open open, uint32_t offset, uint32_t extended_data);

  Device& device_;
  const mailbox::ExtensionVersion version_;
  CopyEngine copy_engine_;
  PeekCommands peeks_;
  ConfigCommands configs_;
  UploadBuffer uploads_;
  RotateCommands rotations_;
  SealCommands seals_;
  TriggerCommands triggers_;
  Open open_ = Open::kNothing;
  uint32_t offset_ = 0;
  uint32_t window_bytes_ = mailbox::kWindowBytes;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_EXTENSION_COMMANDS_H_
