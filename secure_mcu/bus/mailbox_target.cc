// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/bus/mailbox_target.h"

#include <utility>

#include "proto/mailbox/extension.h"
#include "proto/smbus/pec.h"

namespace sideband::mcu {
namespace {

constexpr size_t kWriteBytes = 6;               // command code, count 4, four bytes
constexpr size_t kWriteBytesMax = 2 + 255 + 1;  // the longest block write there is
constexpr size_t kBlockBytes = 1 + mailbox::kRegisterBytes;
constexpr uint8_t kNothing = 0xFF;  // what an idle bus reads as

bool IsWindow(uint8_t code) {
  return code >= mailbox::kWindowFirst && code - mailbox::kWindowFirst < mailbox::kWindowCount;
}

bool IsRegisterWrite(const Bytes& message) {
  return MailboxRegisters::Has(message[0]) && message[1] == mailbox::kRegisterBytes && message.size() >= kWriteBytes &&
         message.size() <= kWriteBytes + 1;
}

}  // namespace

MailboxTarget::MailboxTarget(uint8_t address, CommandHandler& handler) : MailboxTarget(address, handler, Options()) {}

MailboxTarget::MailboxTarget(uint8_t address, CommandHandler& handler, Options options)
    : address_(address),
      vendor_id_(options.vendor_id),
      handler_(handler),
      registers_(handler, std::move(options.registers)) {}

void MailboxTarget::Start(bool read) {
  EndWrite();
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

// Of the newest byte. A bit that was flipped in the command code or in the count is found by the PEC, too, so one of
// them is enough to tell a register's write.
MailboxTarget::Refusal MailboxTarget::Judge() const {
  if (received_.size() > kWriteBytesMax) return Refusal::kTooLong;
  if (received_.size() <= kWriteBytes) return Refusal::kNone;
  if (received_[1] != mailbox::kRegisterBytes && !MailboxRegisters::Has(received_[0])) return Refusal::kNone;
  if (received_.size() > kWriteBytes + 1) return Refusal::kTooLong;
  // With the PEC byte itself, the code over a right transaction is zero.
  return pec_ == 0 ? Refusal::kNone : Refusal::kWrongPec;
}

uint8_t MailboxTarget::Read() {
  if (answered_ == answer_.size()) return kNothing;
  const uint8_t byte = answer_[answered_++];
  if (code_ == mailbox::kCommandRegister && answered_ == kBlockBytes) registers_.StatusTaken();
  return byte;
}

void MailboxTarget::Stop() {
  EndWrite();
  is_writing_ = false;
  registers_.Stop();
}

void MailboxTarget::EndWrite() {
  const Bytes message = std::exchange(received_, {});
  const Refusal refusal = std::exchange(refusal_, Refusal::kNone);
  if (message.empty() || refusal == Refusal::kWrongPec) return;
  code_ = message[0];
  if (message.size() == 1) return;  // only the command code, for a read to come
  if (refusal == Refusal::kNone && IsRegisterWrite(message)) {
    registers_.Write(code_, ByteReader(ByteSpan(message).subspan(2)).U32());
  } else {
    registers_.Malformed();
  }
}

void MailboxTarget::PrepareRead() {
  answered_ = 0;
  answer_ = MailboxRegisters::Has(code_) ? RegisterBlock() : Answer();
  if (!answer_.empty()) answer_.push_back(smbus::Pec(answer_, pec_));
}

Bytes MailboxTarget::RegisterBlock() {
  ByteWriter out;
  out.U8(mailbox::kRegisterBytes);
  out.U32(registers_.Read(code_));
  return std::move(out).Take();
}

// What is no register.
Bytes MailboxTarget::Answer() const {
  if (code_ == mailbox::kVendorIdLowRegister) return {static_cast<uint8_t>(vendor_id_)};
  if (code_ == mailbox::kVendorIdHighRegister) return {static_cast<uint8_t>(vendor_id_ >> 8)};
  if (!IsWindow(code_)) return {};
  const ByteSpan window = handler_.Window(code_ - mailbox::kWindowFirst);
  Bytes block = {static_cast<uint8_t>(window.size())};
  block.insert(block.end(), window.begin(), window.end());
  return block;
}

}  // namespace sideband::mcu
