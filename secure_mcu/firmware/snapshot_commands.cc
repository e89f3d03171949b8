// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/snapshot_commands.h"

#include <algorithm>

#include "proto/mailbox/extension.h"

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;
using mailbox::Opcode;
using Reply = CommandHandler::Reply;

constexpr Opcode kExtensionOpcodes[] = {Opcode::kDiscover, Opcode::kCatalog, Opcode::kLatch, Opcode::kRead,
                                        Opcode::kAck};

Reply Fail(MailboxStatus status) { return {.status = status}; }

}  // namespace

Reply SnapshotCommands::Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) {
  switch (command.opcode) {
    case Opcode::kDiscover:
      return Discover(command.arg1);
    case Opcode::kCatalog:
      return ReadCatalog(data);
    case Opcode::kLatch:
      return Latch();
    case Opcode::kRead:
      return ReadSnapshot(command.arg1, data, extended_data);
    case Opcode::kAck:
      return Acknowledge(data);
    default:
      return Fail(MailboxStatus::kErrOpcode);
  }
}

Reply SnapshotCommands::Discover(uint8_t item) const {
  const uint64_t boot_id = device_.identity().boot_id;
  switch (static_cast<mailbox::DiscoverItem>(item)) {
    case mailbox::DiscoverItem::kVersion: {
      uint32_t served = 0;
      for (const Opcode opcode : kExtensionOpcodes) served |= 1u << (static_cast<uint8_t>(opcode) - 0x60);
      return {.data = mailbox::kExtensionVersion | mailbox::kWindowBytes << 8 | mailbox::kWindowCount << 16,
              .extended_data = served};
    }
    case mailbox::DiscoverItem::kLimits: {
      const mailbox::Catalog& catalog = device_.catalog();
      const size_t blocks = 1 + catalog.vms.size() + catalog.contexts.size();
      return {.data = static_cast<uint32_t>(blocks), .extended_data = static_cast<uint32_t>(catalog.events.size())};
    }
    case mailbox::DiscoverItem::kBootId:
      return {.data = static_cast<uint32_t>(boot_id), .extended_data = static_cast<uint32_t>(boot_id >> 32)};
    case mailbox::DiscoverItem::kCatalog:
      return {.data = static_cast<uint32_t>(copy_engine_.catalog().size()),
              .extended_data = copy_engine_.catalog_hash()};
  }
  return Fail(MailboxStatus::kErrArg1);
}

Reply SnapshotCommands::ReadCatalog(uint32_t offset) {
  return OpenAt(Open::kCatalog, offset, copy_engine_.catalog_hash());
}

Reply SnapshotCommands::Latch() {
  copy_engine_.Latch();
  if (open_ == Open::kSnapshot) open_ = Open::kNothing;
  return {.data = copy_engine_.snapshot_id(), .extended_data = static_cast<uint32_t>(copy_engine_.snapshot().size())};
}

Reply SnapshotCommands::ReadSnapshot(uint8_t selector, uint32_t offset, uint32_t snapshot_id) {
  if (selector != static_cast<uint8_t>(mailbox::ReadSelector::kAll)) return Fail(MailboxStatus::kErrArg1);
  if (copy_engine_.snapshot_id() == 0) return Fail(MailboxStatus::kErrNotAvailable);
  if (snapshot_id != copy_engine_.snapshot_id()) return Fail(MailboxStatus::kErrAgain);
  return OpenAt(Open::kSnapshot, offset, snapshot_id);
}

Reply SnapshotCommands::Acknowledge(uint32_t snapshot_id) {
  if (copy_engine_.snapshot_id() == 0) return Fail(MailboxStatus::kErrNotAvailable);
  if (snapshot_id != copy_engine_.snapshot_id()) return Fail(MailboxStatus::kErrAgain);
  copy_engine_.Acknowledge();
  return {.data = snapshot_id};
}

Reply SnapshotCommands::OpenAt(Open stream, uint32_t offset, uint32_t extended_data) {
  const ByteSpan bytes = Stream(stream);
  if (offset >= bytes.size()) return Fail(MailboxStatus::kErrData);
  open_ = stream;
  offset_ = offset;
  return {.data = static_cast<uint32_t>(bytes.size()), .extended_data = extended_data};
}

ByteSpan SnapshotCommands::Stream(Open stream) const {
  switch (stream) {
    case Open::kNothing:
      return {};
    case Open::kCatalog:
      return copy_engine_.catalog();
    case Open::kSnapshot:
      return copy_engine_.snapshot();
  }
  return {};
}

ByteSpan SnapshotCommands::Window(uint8_t index) const {
  const ByteSpan bytes = Stream(open_);
  const size_t begin = offset_ + size_t{index} * mailbox::kWindowBytes;
  if (begin >= bytes.size()) return {};
  return bytes.subspan(begin, std::min<size_t>(mailbox::kWindowBytes, bytes.size() - begin));
}

}  // namespace sideband::mcu
