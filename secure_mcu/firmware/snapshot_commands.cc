// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/snapshot_commands.h"

#include <algorithm>

#include "proto/mailbox/extension.h"
#include "proto/mailbox/features.h"
#include "secure_mcu/firmware/reply.h"

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;
using mailbox::Opcode;
using mailbox::ReadSelector;

uint32_t WindowBytes(const mailbox::CommandWord& command) {
  return command.arg2 == 0 ? mailbox::kWindowBytes : command.arg2;
}

}  // namespace

bool SnapshotCommands::IsServed(Opcode opcode) {
  if (opcode == Opcode::kConfig && !configs_.IsServed()) return false;
  if (opcode == Opcode::kRotate && !device_.HasRotation()) return false;
  if (opcode == Opcode::kSeal && device_.block_sealer() == nullptr) return false;
  if (opcode == Opcode::kTrigger && !device_.CanTrigger()) return false;
  return mailbox::IsOpcodeOf(version_, opcode);
}

// Bit n for opcode 0x60 + n.
uint32_t SnapshotCommands::ServedOpcodes() {
  uint32_t served = 0;
  for (const mailbox::OpcodeRow& row : mailbox::kOpcodes) {
    if (IsServed(row.opcode)) served |= 1u << (static_cast<uint8_t>(row.opcode) & 0x0F);
  }
  return served;
}

uint64_t SnapshotCommands::Features() {
  const uint64_t selections = device_.catalog().selections.empty() ? 0 : mailbox::kSelectionsFeature;
  const uint64_t host_blocks = device_.catalog().host_blocks.empty() ? 0 : mailbox::kHostBlocksFeature;
  const uint64_t private_vms = device_.HasPrivateVms() ? mailbox::kPrivateVmsFeature : 0;
  const uint64_t rotation = device_.HasRotation() ? mailbox::kRotationFeature : 0;
  const uint64_t clocks = device_.CanTrigger() && device_.HasClocks() ? mailbox::kClocksFeature : 0;
  const uint64_t sealing = IsServed(Opcode::kSeal) ? mailbox::kSealingFeature : 0;
  return mailbox::kPeekFeature | sealing | clocks | rotation | selections | host_blocks | private_vms |
         (configs_.IsServed() ? mailbox::kGateGroupsFeature : 0);
}

Reply SnapshotCommands::Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) {
  const Opcode opcode = command.opcode;
  if (!IsServed(opcode)) return Fail(MailboxStatus::kErrOpcode);
  if (opcode == Opcode::kDiscover) return Discover(command.arg1);
  if (opcode == Opcode::kPeek) return Peek(command, data, extended_data);
  peeks_.EndLatch();
  if (opcode == Opcode::kTrigger) return Trigger(command, data, extended_data);
  if (opcode == Opcode::kConfig) return Config(command, data, extended_data);
  if (opcode == Opcode::kUpload) return uploads_.Open(command, data);
  if (opcode == Opcode::kRotate) return Rotate(command, data, extended_data);
  if (opcode == Opcode::kSeal) return Seal(command, data, extended_data);
  if (opcode == Opcode::kAck) return Acknowledge(command, data);
  const bool opens_stream = opcode == Opcode::kCatalog || opcode == Opcode::kLatch || opcode == Opcode::kRead;
  return opens_stream ? Stream(command, data, extended_data) : Fail(MailboxStatus::kErrOpcode);
}

Reply SnapshotCommands::Discover(uint8_t item) {
  const uint64_t boot_id = device_.identity().boot_id;
  switch (static_cast<mailbox::DiscoverItem>(item)) {
    case mailbox::DiscoverItem::kVersion:
      return {.data = static_cast<uint32_t>(version_) | mailbox::kWindowBytes << 8 | mailbox::kWindowCount << 16,
              .extended_data = ServedOpcodes()};
    case mailbox::DiscoverItem::kLimits: {
      const mailbox::Catalog& catalog = device_.catalog();
      const size_t blocks = 1 + catalog.vms.size() + catalog.contexts.size() + catalog.host_blocks.size();
      return {.data = static_cast<uint32_t>(blocks), .extended_data = static_cast<uint32_t>(catalog.events.size())};
    }
    case mailbox::DiscoverItem::kBootId:
      return {.data = static_cast<uint32_t>(boot_id), .extended_data = static_cast<uint32_t>(boot_id >> 32)};
    case mailbox::DiscoverItem::kCatalog:
      return {.data = static_cast<uint32_t>(copy_engine_.catalog().size()),
              .extended_data = copy_engine_.catalog_hash()};
    case mailbox::DiscoverItem::kFeatures:
      if (version_ == mailbox::ExtensionVersion::kOne) break;
      return {.data = static_cast<uint32_t>(Features()), .extended_data = static_cast<uint32_t>(Features() >> 32)};
  }
  return Fail(MailboxStatus::kErrArg1);
}

Reply SnapshotCommands::Stream(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) {
  window_bytes_ = WindowBytes(command);
  if (command.opcode == Opcode::kRead) return ReadSnapshot(command.arg1, data, extended_data);
  if (command.opcode == Opcode::kLatch) {
    // A mark that does not fit data-in (overwritten since, or of another boot) makes this a LATCH without a base.
    return Latch(command.arg1 == mailbox::LatchMark(device_.identity().boot_id, data) ? data : 0);
  }
  return command.arg1 == 0 ? ReadCatalog(data) : Fail(MailboxStatus::kErrArg1);
}

Reply SnapshotCommands::ReadCatalog(uint32_t offset) {
  return OpenAt(copy_engine_.catalog(), Open::kCatalog, offset, copy_engine_.catalog_hash());
}

Reply SnapshotCommands::Latch(uint32_t base_id) {
  copy_engine_.Latch(base_id);
  open_ = Open::kSnapshot;
  offset_ = 0;
  return {.data = copy_engine_.snapshot_id(), .extended_data = static_cast<uint32_t>(copy_engine_.stream().size())};
}

Reply SnapshotCommands::ReadSnapshot(uint8_t selector, uint32_t offset, uint32_t extended_data) {
  if (selector > static_cast<uint8_t>(ReadSelector::kContext)) return Fail(MailboxStatus::kErrArg1);
  if (copy_engine_.snapshot_id() == 0) return Fail(MailboxStatus::kErrNotAvailable);
  // Reads of one scope carry the scope in place of the snapshot id.
  CopyEngine::Selection selection{.selector = static_cast<ReadSelector>(selector)};
  if (selection.selector == ReadSelector::kVm || selection.selector == ReadSelector::kContext) {
    selection.vm = static_cast<uint16_t>(extended_data);
    if (selection.selector == ReadSelector::kContext) selection.context = static_cast<uint16_t>(extended_data >> 16);
  } else if (extended_data != copy_engine_.snapshot_id()) {
    return Fail(MailboxStatus::kErrAgain);
  }
  copy_engine_.Select(selection);
  return OpenAt(copy_engine_.stream(), Open::kSnapshot, offset, copy_engine_.snapshot_id());
}

uint16_t SnapshotCommands::MarkOf(uint32_t snapshot_id) const {
  return mailbox::SnapshotMark(device_.identity().boot_id, snapshot_id);
}

Reply SnapshotCommands::Acknowledge(const mailbox::CommandWord& command, uint32_t snapshot_id) {
  if (copy_engine_.snapshot_id() == 0) return Fail(MailboxStatus::kErrNotAvailable);
  // Without a fitting mark, data-in may be the id of a snapshot that the controller has not read.
  const bool is_meant = (command.arg1 | command.arg2 << 8) == MarkOf(snapshot_id);
  if (!is_meant || snapshot_id != copy_engine_.snapshot_id()) return Fail(MailboxStatus::kErrAgain);
  copy_engine_.Acknowledge();
  return {.data = snapshot_id};
}

Reply SnapshotCommands::Peek(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) {
  const Reply reply = peeks_.Execute(command, data, extended_data);
  const bool is_go = command.arg1 == static_cast<uint8_t>(mailbox::PeekStep::kGo);
  if (!is_go || reply.status != MailboxStatus::kSuccess) return reply;
  window_bytes_ = WindowBytes(command);
  open_ = Open::kPeek;
  offset_ = 0;
  return reply;
}

Reply SnapshotCommands::Config(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) {
  const Reply reply = configs_.Execute(command, data, extended_data);
  const auto step = static_cast<mailbox::ConfigStep>(command.arg1);
  if (reply.status != MailboxStatus::kSuccess) return reply;
  if (step == mailbox::ConfigStep::kDump) {
    window_bytes_ = WindowBytes(command);
    open_ = Open::kConfig;
    offset_ = data;
  } else if (step == mailbox::ConfigStep::kCommit) {
    // Its snapshot has taken the place of the one that was open.
    open_ = Open::kNothing;
  }
  return reply;
}

Reply SnapshotCommands::Rotate(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) {
  const Reply reply = rotations_.Execute(command, data, extended_data);
  const bool is_plan = command.arg1 == static_cast<uint8_t>(mailbox::RotateStep::kPlan);
  if (!is_plan || reply.status != MailboxStatus::kSuccess) return reply;
  window_bytes_ = WindowBytes(command);
  open_ = Open::kPlan;
  offset_ = extended_data;
  return reply;
}

Reply SnapshotCommands::Seal(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) {
  const Reply reply = seals_.Execute(command, data, extended_data);
  const auto offset = SealCommands::OffsetOf(command, data, extended_data);
  if (!offset || reply.status != MailboxStatus::kSuccess) return reply;
  window_bytes_ = WindowBytes(command);
  open_ = Open::kExchange;
  offset_ = *offset;
  return reply;
}

Reply SnapshotCommands::Trigger(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) {
  const Reply reply = triggers_.Execute(command, data, extended_data);
  if (!TriggerCommands::OpensStream(command) || reply.status != MailboxStatus::kSuccess) return reply;
  window_bytes_ = WindowBytes(command);
  open_ = Open::kTriggers;
  offset_ = extended_data;
  return reply;
}

Reply SnapshotCommands::OpenAt(ByteSpan stream, Open open, uint32_t offset, uint32_t extended_data) {
  // The selection may have replaced the stream that was open.
  open_ = Open::kNothing;
  if (offset >= stream.size()) return Fail(MailboxStatus::kErrData);
  open_ = open;
  offset_ = offset;
  return {.data = static_cast<uint32_t>(stream.size()), .extended_data = extended_data};
}

ByteSpan SnapshotCommands::Window(uint8_t index) const {
  ByteSpan stream;
  if (open_ == Open::kCatalog) stream = copy_engine_.catalog();
  if (open_ == Open::kSnapshot) stream = copy_engine_.stream();
  if (open_ == Open::kPeek) stream = peeks_.stream();
  if (open_ == Open::kConfig) stream = configs_.stream();
  if (open_ == Open::kPlan) stream = rotations_.stream();
  if (open_ == Open::kExchange) stream = seals_.stream();
  if (open_ == Open::kTriggers) stream = triggers_.stream();
  const size_t begin = offset_ + size_t{index} * window_bytes_;
  if (begin >= stream.size()) return {};
  return stream.subspan(begin, std::min<size_t>(window_bytes_, stream.size() - begin));
}

}  // namespace sideband::mcu
