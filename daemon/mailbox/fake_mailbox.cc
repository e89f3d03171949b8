// SPDX-License-Identifier: Apache-2.0
#include "daemon/mailbox/fake_mailbox.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "proto/mailbox/catalog.h"
#include "proto/mailbox/clocks.h"
#include "proto/mailbox/snapshot.h"
#include "proto/mailbox/stream.h"
#include "proto/smbus/transfer.h"

namespace sideband::daemon {
namespace {

using mailbox::ExtensionVersion;
using mailbox::MailboxStatus;
using mailbox::Opcode;
using smbus::TransferResult;

uint8_t PecOfWrite(ByteSpan bytes) {
  const uint8_t address_byte = smbus::AddressByte(FakeMailbox::kAddress, /*read=*/false);
  return smbus::Pec(bytes, smbus::Pec({&address_byte, 1}));
}

Bytes RegisterBytes(uint32_t value) {
  ByteWriter out;
  out.U32(value);
  return std::move(out).Take();
}

}  // namespace

FakeMailbox::Result FakeMailbox::Execute(const smbus::Transfer& transfer) {
  transfers.push_back(transfer);
  before(transfer);
  Result result = Carry(transfer);
  after(transfer, result);
  return result;
}

FakeMailbox::Result FakeMailbox::Carry(const smbus::Transfer& transfer) {
  const auto is_other = [](const smbus::Message& message) { return message.address != kAddress; };
  if (!is_present || std::ranges::any_of(transfer.messages, is_other)) {
    return TransferResult{.outcome = smbus::Outcome::kAddressNack};
  }
  if (IsWrite(transfer)) return Write(transfer.messages[0].write_bytes);
  return Read(CodeOf(transfer), transfer.messages.at(1).read_size);
}

TransferResult FakeMailbox::Write(const Bytes& bytes) {
  // The checksum over data and PEC is 0 if correct.
  if (bytes.size() != 7 || PecOfWrite(bytes) != 0) return {.outcome = smbus::Outcome::kDataNack};
  const uint32_t value = ByteReader(ByteSpan(bytes).subspan(2)).U32();
  if (bytes[0] == registers().data) data_ = value;
  if (bytes[0] == registers().extended_data) extended_data_ = value;
  if (bytes[0] == registers().command) {
    commands.push_back({mailbox::CommandWord::Decode(value), data_, extended_data_});
    Run(commands.back());
  }
  return {};
}

TransferResult FakeMailbox::Read(uint8_t code, size_t size) {
  const Bytes block = BlockOf(code);
  const uint8_t before_block[] = {smbus::AddressByte(kAddress, false), code, smbus::AddressByte(kAddress, true)};
  ByteWriter out;
  out.U8(static_cast<uint8_t>(block.size()));
  out.Raw(block);
  out.U8(smbus::Pec(out.written(), smbus::Pec(before_block)));
  Bytes read = std::move(out).Take();
  read.resize(size, 0xFF);
  return {.read = {std::move(read)}};
}

Bytes FakeMailbox::BlockOf(uint8_t code) {
  if (code == mailbox::kSignatureRegister) {
    const auto signature = mailbox::Signature(static_cast<uint8_t>(version));
    return version == ExtensionVersion::kOne ? Bytes() : Bytes(signature.begin(), signature.end());
  }
  if (code == registers().data) return RegisterBytes(data_);
  if (code == registers().extended_data) return RegisterBytes(extended_data_);
  if (code >= mailbox::kWindowFirst) {
    const size_t begin = std::min(stream_.size(), (code - mailbox::kWindowFirst) * window_bytes);
    const size_t end = std::min(stream_.size(), begin + window_bytes);
    return Bytes(stream_.begin() + static_cast<ptrdiff_t>(begin), stream_.begin() + static_cast<ptrdiff_t>(end));
  }
  mailbox::CommandWord word = status_;
  word.execute = busy_ > 0;
  if (busy_-- > 0) word.status = MailboxStatus::kNull;
  busy_ = std::max(busy_, 0);
  return RegisterBytes(word.Encode());
}

void FakeMailbox::Run(const Command& command) {
  const std::optional<Reply> scripted = answer(command);
  const Reply reply = scripted ? *scripted : Perform(command);
  status_ = command.word;
  status_.execute = false;
  status_.status = reply.status;
  data_ = reply.data;
  extended_data_ = reply.extended_data;
  busy_ = busy_polls;
}

void FakeMailbox::RunElsewhere(const Command& command) {
  Run(command);
  busy_ = 0;
}

void FakeMailbox::Restart(uint64_t boot_id) {
  next.boot_id = boot_id;
  snapshot_id_ = 0;
  latched_.reset();
  base_.reset();
  status_ = mailbox::CommandWord::Decode(mailbox::kBootWord);
}

std::vector<FakeMailbox::Command> FakeMailbox::CommandsOf(Opcode opcode) const {
  std::vector<Command> found;
  std::ranges::copy_if(commands, std::back_inserter(found),
                       [&](const Command& command) { return command.word.opcode == opcode; });
  return found;
}

// Bit n for opcode 0x60 + n.
uint32_t FakeMailbox::ServedOpcodes() const {
  if (version == ExtensionVersion::kOne) return 0x1F;
  const uint32_t seal = (features & mailbox::kSealingFeature) != 0 ? 1u << 5 : 0;
  return 0x49F | seal | (HasClocks() ? 1u << 6 : 0);
}

FakeMailbox::Reply FakeMailbox::Perform(const Command& command) {
  const mailbox::CommandWord& word = command.word;
  const uint16_t mark = static_cast<uint16_t>(word.arg1 | word.arg2 << 8);
  switch (word.opcode) {
    case Opcode::kDiscover:
      if (word.arg1 == static_cast<uint8_t>(mailbox::DiscoverItem::kFeatures)) {
        return {.data = static_cast<uint32_t>(features), .extended_data = static_cast<uint32_t>(features >> 32)};
      }
      return {.data = static_cast<uint32_t>(version) | mailbox::kWindowBytes << 8 | mailbox::kWindowCount << 16,
              .extended_data = ServedOpcodes()};
    case Opcode::kCatalog:
      return Open(CatalogStream(), command.data, 0);
    case Opcode::kLatch:
      return Latch(command);
    case Opcode::kRead:
      if (!latched_ || command.extended_data != snapshot_id_) return {.status = MailboxStatus::kErrAgain};
      return Open(SnapshotStream(), command.data, snapshot_id_);
    case Opcode::kAck:
      if (!latched_ || command.data != snapshot_id_ || mark != mailbox::SnapshotMark(next.boot_id, snapshot_id_)) {
        return {.status = MailboxStatus::kErrAgain};
      }
      base_ = mailbox::AsBase(*latched_, mailbox::VmsWrittenWhole(catalog));
      return {.data = snapshot_id_};
    case Opcode::kPeek:
      return word.arg1 == static_cast<uint8_t>(mailbox::PeekStep::kScope) ? SetPeekScope(command) : Peek(command);
    case Opcode::kTrigger:
      return HasClocks() ? Trigger(command) : Reply{.status = MailboxStatus::kErrOpcode};
    default:
      return {.status = MailboxStatus::kErrOpcode};
  }
}

FakeMailbox::Reply FakeMailbox::Latch(const Command& command) {
  const uint32_t held = command.word.arg1 == mailbox::LatchMark(next.boot_id, command.data) ? command.data : 0;
  if (held != 0 && latched_ && held == snapshot_id_) {
    base_ = mailbox::AsBase(*latched_, mailbox::VmsWrittenWhole(catalog));
  }
  latched_ = next;
  latched_->snapshot_id = ++snapshot_id_;
  if (!latched_->rotation.empty()) latched_->layout = mailbox::LayoutOf(catalog);
  latched_->catalog_hash = mailbox::CatalogHash(CatalogPayload());
  is_relative_ = held != 0 && base_ && base_->snapshot_id == held;
  const Reply opened = Open(SnapshotStream(), 0, 0);
  return {.data = snapshot_id_, .extended_data = opened.data};
}

FakeMailbox::Reply FakeMailbox::SetPeekScope(const Command& command) {
  const mailbox::PeekQuestion scope = {.manager = command.data,
                                       .vm = static_cast<uint16_t>(command.extended_data),
                                       .context = static_cast<uint16_t>(command.extended_data >> 16)};
  const auto block = std::ranges::find_if(next.blocks, [&](const mailbox::BlockHeader& header) {
    return header.vm == scope.vm && header.context == scope.context;
  });
  if (block == next.blocks.end()) return {.status = MailboxStatus::kErrData};
  scope_ = scope;
  block_ = static_cast<size_t>(block - next.blocks.begin());
  return {};
}

FakeMailbox::Reply FakeMailbox::Peek(const Command& command) {
  if ((scope_.manager & mailbox::kPeekSameLatch) == 0) peeked_ = next;
  const mailbox::BlockHeader& header = peeked_.blocks.at(block_);
  mailbox::PeekAnswer answer{.boot_id = peeked_.boot_id,
                             .tag = ++tag_,
                             .question = scope_,
                             .generation = header.generation,
                             .reference_cycle = peeked_.reference_time_ns,
                             .reference_time_ns = peeked_.reference_time_ns,
                             .flags = header.flags};
  answer.question.bitmap = uint64_t{command.extended_data} << 32 | command.data;
  for (size_t event = 0; event < peeked_.counters_per_block; ++event) {
    const bool is_asked = mailbox::ExtendOf(event) == (scope_.manager & mailbox::kPeekExtendMask) &&
                          (answer.question.bitmap & mailbox::BitOf(event)) != 0;
    if (is_asked) answer.counters.push_back(peeked_.Counters(block_)[event]);
  }
  if (answer.counters.size() != static_cast<size_t>(std::popcount(answer.question.bitmap))) {
    return {.status = MailboxStatus::kErrData};
  }
  return Open(mailbox::EncodePeekStream(answer), 0, tag_);
}

FakeMailbox::Reply FakeMailbox::Trigger(const Command& command) {
  switch (static_cast<mailbox::TriggerStep>(command.word.arg1)) {
    case mailbox::TriggerStep::kOnce:
    case mailbox::TriggerStep::kStart:
    case mailbox::TriggerStep::kStop:
      break;
    case mailbox::TriggerStep::kSelect:
      selected = uint64_t{command.extended_data} << 32 | command.data;
      return {.data = command.data, .extended_data = command.extended_data};
    case mailbox::TriggerStep::kBookmark:
      return {.data = static_cast<uint32_t>(next.reference_time_ns),
              .extended_data = static_cast<uint32_t>(next.reference_time_ns >> 32)};
    case mailbox::TriggerStep::kTimeline:
      timeline.first_trigger_id = command.data;
      return Open(mailbox::EncodeTimelineStream(timeline), command.extended_data, 0);
    case mailbox::TriggerStep::kHulls:
      hulls.first_trigger_id = command.data;
      return Open(mailbox::EncodeHullStream(hulls), command.extended_data, 0);
  }
  return {.status = MailboxStatus::kErrArg1};
}

FakeMailbox::Reply FakeMailbox::Open(Bytes stream, uint32_t offset, uint32_t extended_data) {
  const auto size = static_cast<uint32_t>(stream.size());
  if (offset >= size) return {.status = MailboxStatus::kErrData};
  spoil(stream);
  stream_.assign(stream.begin() + std::min<ptrdiff_t>(offset, std::ssize(stream)), stream.end());
  return {.data = size, .extended_data = extended_data};
}

Bytes FakeMailbox::CatalogPayload() const {
  return version == ExtensionVersion::kOne ? mailbox::EncodeCatalog(catalog) : mailbox::EncodeCatalogSections(catalog);
}

Bytes FakeMailbox::CatalogStream() const {
  return mailbox::EncodeStream(
      {.kind = mailbox::StreamKind::kCatalog, .framing = mailbox::CatalogFraming(version), .boot_id = next.boot_id},
      CatalogPayload());
}

Bytes FakeMailbox::SnapshotStream() const {
  return mailbox::EncodeSnapshotStream(*latched_, is_relative_ ? &*base_ : nullptr, mailbox::VmsWrittenWhole(catalog),
                                       mailbox::SnapshotFraming(version));
}

}  // namespace sideband::daemon
