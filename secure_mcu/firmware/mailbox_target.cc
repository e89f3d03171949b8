// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/mailbox_target.h"

#include <set>
#include <utility>

#include "proto/mailbox/extension.h"
#include "proto/mailbox/word.h"
#include "proto/smbus/transfer.h"

namespace sideband::mcu {
namespace {

using mailbox::CommandWord;
using mailbox::MailboxStatus;
using smbus::Message;
using smbus::Outcome;
using smbus::TransferResult;

Outcome WriteMessage(BusTarget& target, const Message& message) {
  target.Start(/*read=*/false);
  for (const uint8_t byte : message.write_bytes) {
    if (!target.Write(byte)) return Outcome::kDataNack;
  }
  return Outcome::kOk;
}

Outcome ReadMessage(BusTarget& target, const Message& message, TransferResult& result) {
  target.Start(/*read=*/true);
  Bytes& received = result.read.emplace_back();
  size_t size = message.read_size;
  if (message.block) {
    // The first byte of a block is its count.
    const uint8_t count = target.Read();
    received.push_back(count);
    if (count == 0) return Outcome::kBadCount;
    size += count;
  }
  for (size_t i = 0; i < size; ++i) received.push_back(target.Read());
  return Outcome::kOk;
}

constexpr uint32_t kEventPendingBit = uint32_t{1} << 30;
constexpr uint32_t kWordBits = 0x00FFFFFF;  // of a word: opcode and arguments, or data

// The status word of a command, which repeats its opcode and arguments.
CommandWord Answer(CommandWord word, MailboxStatus status) {
  word.status = status;
  word.execute = word.copy_data = word.reserved = false;
  return word;
}

uint32_t ResultWord(const CommandWord& word, const CommandHandler::Reply& reply) {
  const uint32_t answer = Answer(word, reply.status).Encode();
  // A bundle's rules take bits of failed requests, too.
  const bool has_results = reply.status == MailboxStatus::kSuccess || reply.status == MailboxStatus::kPartialFailure;
  if (!has_results) return answer;
  // Bits without a place in the data registers come before the copy of those with one.
  if (!reply.word_bits && !word.copy_data) return answer;
  return (answer & ~kWordBits) | (reply.word_bits.value_or(reply.data) & kWordBits);
}

constexpr size_t kSendByteBytes = 2;            // command code, PEC
constexpr size_t kWriteBytes = 6;               // command code, count 4, four bytes
constexpr size_t kWriteBytesMax = 2 + 255 + 1;  // longest block write: command code, count, 255 bytes, PEC
constexpr size_t kBlockBytesBeside = 3;         // command code, count, PEC
constexpr size_t kBlockBytes = 1 + mailbox::kRegisterBytes;
constexpr uint8_t kNothing = 0xFF;  // value read from an idle bus
constexpr auto kSignature = mailbox::Signature(static_cast<uint8_t>(mailbox::ExtensionVersion::kTwo));

// Command codes of the extension's version 2, windows included: a malformed write to them does not affect the shared
// registers.
bool IsOwn(uint8_t code) {
  return code >= mailbox::kOwnRegisters.command && code < mailbox::kWindowFirst + mailbox::kWindowCount;
}

Bytes Block(ByteSpan content) {
  Bytes block = {static_cast<uint8_t>(content.size())};
  block.insert(block.end(), content.begin(), content.end());
  return block;
}

}  // namespace

TransferResult VirtualBus::Execute(const smbus::Transfer& transfer) {
  TransferResult result;
  std::set<BusTarget*> addressed;
  for (const Message& message : transfer.messages) {
    const auto target = targets_.find(message.address);
    if (target == targets_.end()) {
      result.outcome = Outcome::kAddressNack;
      break;
    }
    addressed.insert(target->second);
    result.outcome =
        message.read ? ReadMessage(*target->second, message, result) : WriteMessage(*target->second, message);
    if (result.outcome != Outcome::kOk) break;
  }
  // Also after an error, which ends the transaction by a STOP.
  for (BusTarget* target : addressed) target->Stop();
  return result;
}

void MailboxRegisters::Write(uint8_t code, uint32_t value) {
  // No timer runs: a result that has become due appears at the next access.
  Settle();
  if (IsCommand(code)) {
    const CommandWord word = CommandWord::Decode(value);
    if (word.execute) StartCommand(word);
    return;
  }
  DataLatch& latch = LatchOf(code);
  // Data written while a command runs must not hide the running command's result.
  latch.in = value;
  latch.kept = running_.has_value();
  if (!latch.kept) latch.out = value;
}

void MailboxRegisters::StartCommand(const CommandWord& word) {
  if (running_) {
    complaint_ = Answer(word, MailboxStatus::kErrBusy).Encode();
    return;
  }
  complaint_.reset();  // for an earlier command, whose controller has not read its status
  // The inputs are taken now: data written from here on belongs to the next command.
  running_ = {.word = word, .data = latches_[0].in, .extended_data = latches_[1].in, .reply = {}};
}

void MailboxRegisters::Malformed() {
  Settle();
  const uint32_t answer = CommandWord{.status = MailboxStatus::kErrRequest}.Encode();
  if (running_) {
    complaint_ = answer;
  } else {
    status_ = answer;
  }
}

void MailboxRegisters::Stop() {
  if (running_ && !running_->carried_out) {
    Command& command = *running_;
    command.carried_out = true;
    command.reply = command.word.reserved ? CommandHandler::Reply{.status = MailboxStatus::kErrRequest}
                                          : handler_.Execute(command.word, command.data, command.extended_data);
    if (options_.now_us) command.visible_us = options_.now_us() + options_.latency_us;
  }
  Settle();
}

void MailboxRegisters::Settle() {
  if (!running_ || !running_->carried_out) return;
  // Without a clock or a latency the result appears at once.
  const bool waits = options_.now_us && options_.latency_us > 0;
  if (waits && options_.now_us() < running_->visible_us) return;
  status_ = ResultWord(running_->word, running_->reply);
  const uint32_t results[kLatches] = {running_->reply.data, running_->reply.extended_data};
  for (int i = 0; i < kLatches; ++i) {
    DataLatch& latch = latches_[i];
    latch.out = results[i];
    // A result is the next command's data, unless new data was written meanwhile.
    if (!latch.kept) latch.in = results[i];
    latch.kept = false;
  }
  running_.reset();
}

uint32_t MailboxRegisters::Status() {
  complaint_shown_ = false;
  if (running_) {
    CommandWord busy = Answer(running_->word, MailboxStatus::kNull);
    busy.execute = true;
    return busy.Encode();
  }
  complaint_shown_ = complaint_.has_value();
  return complaint_.value_or(status_);
}

uint32_t MailboxRegisters::Read(uint8_t code) {
  Settle();
  if (!IsCommand(code)) return LatchOf(code).out;
  return Status() | (handler_.EventPending() ? kEventPendingBit : 0);
}

void MailboxRegisters::StatusTaken() {
  if (complaint_shown_) complaint_.reset();
  complaint_shown_ = false;
}

MailboxTarget::MailboxTarget(uint8_t address, CommandHandler& handler) : MailboxTarget(address, handler, Options()) {}

MailboxTarget::MailboxTarget(uint8_t address, CommandHandler& handler, Options options)
    : address_(address),
      vendor_id_(options.vendor_id),
      window_handler_(options.own_handler == nullptr ? handler : *options.own_handler),
      shared_(mailbox::kSharedRegisters, handler, options.registers) {
  if (options.own_handler != nullptr) own_.emplace(mailbox::kOwnRegisters, *options.own_handler, options.registers);
}

bool MailboxTarget::IsRegisterWrite(const Bytes& message) const {
  const bool has_pec = message.size() == kWriteBytes + 1;
  // The own registers are written with PEC only.
  const bool is_long_enough = has_pec || (message.size() == kWriteBytes && shared_.Has(message[0]));
  return IsRegister(message[0]) && message[1] == mailbox::kRegisterBytes && is_long_enough;
}

bool MailboxTarget::IsWindowWrite(const Bytes& message) const {
  return own_ && mailbox::IsWindow(message[0]) && message[1] != 0 && message.size() == kBlockBytesBeside + message[1];
}

MailboxRegisters& MailboxTarget::SetOf(uint8_t code) { return own_ && IsOwn(code) ? *own_ : shared_; }

void MailboxTarget::Start(bool read) {
  // A repeated START completes a write, too, but a command is executed at the STOP only.
  EndWrite();
  // The PEC of a read also covers the command code written before it.
  const bool goes_on = read && is_writing_;
  if (!goes_on) pec_ = 0;
  is_writing_ = !read;
  const uint8_t address_byte = smbus::AddressByte(address_, read);
  pec_ = smbus::Pec({&address_byte, 1}, pec_);
  if (read) PrepareRead();
}

bool MailboxTarget::Write(uint8_t byte) {
  if (refusal_ != Refusal::kNone) return false;
  received_.push_back(byte);
  pec_ = smbus::Pec({&byte, 1}, pec_);
  refusal_ = Judge();
  if (refusal_ == Refusal::kWrongPec) ++pec_errors_;
  return refusal_ == Refusal::kNone;
}

// Judges the newest byte. Either the command code or the count identifies a register write: if a bit of the other was
// flipped, the PEC detects it.
MailboxTarget::Refusal MailboxTarget::Judge() const {
  if (received_.size() > kWriteBytesMax) return Refusal::kTooLong;
  if (own_ && received_.size() > 1 && mailbox::IsWindow(received_[0])) {
    const size_t size = kBlockBytesBeside + received_[1];
    if (received_.size() < size) return Refusal::kNone;
    if (received_.size() > size) return Refusal::kTooLong;
    return pec_ == 0 ? Refusal::kNone : Refusal::kWrongPec;
  }
  // A register write without PEC ends within these bytes.
  if (received_.size() <= kWriteBytes) return Refusal::kNone;
  if (received_[1] != mailbox::kRegisterBytes && !IsRegister(received_[0])) return Refusal::kNone;
  if (received_.size() > kWriteBytes + 1) return Refusal::kTooLong;
  // The CRC over a valid message and its PEC byte is zero.
  return pec_ == 0 ? Refusal::kNone : Refusal::kWrongPec;
}

uint8_t MailboxTarget::Read() {
  if (answered_ == answer_.size()) return kNothing;
  const uint8_t byte = answer_[answered_++];
  if (answered_ == kBlockBytes && IsRegister(code_) && SetOf(code_).IsCommand(code_)) SetOf(code_).StatusTaken();
  return byte;
}

void MailboxTarget::Stop() {
  EndWrite();
  // A client of the shared registers may set the code in one transaction and read in the next; a transaction between
  // the two at the extension's own codes must not change what it reads.
  if (own_ && IsOwn(code_)) {
    code_ = shared_code_;
  } else {
    shared_code_ = code_;
  }
  is_writing_ = false;
  shared_.Stop();
  if (own_) own_->Stop();
}

void MailboxTarget::EndWrite() {
  const Bytes message = std::exchange(received_, {});
  const Refusal refusal = std::exchange(refusal_, Refusal::kNone);
  // A register write with a wrong PEC has no effect, not even on the selected code.
  if (message.empty() || refusal == Refusal::kWrongPec) return;
  code_ = message[0];
  if (message.size() == 1) return;                            // the command code of a following read
  if (message.size() == kSendByteBytes && pec_ == 0) return;  // the same, as SMBus' Send Byte with a PEC
  if (refusal == Refusal::kNone && IsRegisterWrite(message)) {
    SetOf(code_).Write(code_, ByteReader(ByteSpan(message).subspan(2)).U32());
    return;
  }
  const bool is_taken =
      refusal == Refusal::kNone && IsWindowWrite(message) &&
      window_handler_.WriteWindow(code_ - mailbox::kWindowFirst, ByteSpan(message).subspan(2, message[1]));
  if (!is_taken) SetOf(code_).Malformed();
}

void MailboxTarget::PrepareRead() {
  answered_ = 0;
  answer_ = IsRegister(code_) ? RegisterBlock() : Answer();
  if (!answer_.empty()) answer_.push_back(smbus::Pec(answer_, pec_));
}

Bytes MailboxTarget::RegisterBlock() {
  ByteWriter out;
  out.U8(mailbox::kRegisterBytes);
  out.U32(SetOf(code_).Read(code_));
  return std::move(out).Take();
}

// The reply for codes that are not registers: vendor id, signature, window, or nothing.
Bytes MailboxTarget::Answer() const {
  if (code_ == mailbox::kVendorIdLowRegister) return {static_cast<uint8_t>(vendor_id_)};
  if (code_ == mailbox::kVendorIdHighRegister) return {static_cast<uint8_t>(vendor_id_ >> 8)};
  if (own_ && code_ == mailbox::kSignatureRegister) return Block(kSignature);
  return mailbox::IsWindow(code_) ? Block(window_handler_.Window(code_ - mailbox::kWindowFirst)) : Bytes();
}

}  // namespace sideband::mcu
