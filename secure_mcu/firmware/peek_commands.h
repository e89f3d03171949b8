// SPDX-License-Identifier: Apache-2.0
//
// Opcode PEEK of the extension: a few live counters of one memory block, without a latch of the device.
// (registers.md, "Out of band: opcode 67 PEEK"; proto/mailbox/README.md, "PEEK".)
//   PeekCommands commands(device);
//   commands.Execute(scope, /*manager=*/0, /*VM 1, its context 0:*/ 1);
//   const Reply reply = commands.Execute(go, /*bitmap=*/0b11, 0);
//   Send(commands.stream());
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_PEEK_COMMANDS_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_PEEK_COMMANDS_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "proto/base/bytes.h"
#include "proto/mailbox/peek.h"
#include "proto/mailbox/word.h"
#include "secure_mcu/firmware/device.h"
#include "secure_mcu/firmware/reply.h"

namespace sideband::mcu {

// Not thread-safe.
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

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_PEEK_COMMANDS_H_
