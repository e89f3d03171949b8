// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/bus/mailbox_target.h"

#include "proto/mailbox/extension.h"
#include "proto/smbus/pec.h"

namespace sideband::mcu {
namespace {

using mailbox::CommandWord;
using mailbox::MailboxStatus;

constexpr size_t kWriteBytes = 6;               // command code, count 4, four bytes
constexpr size_t kWriteBytesMax = 2 + 255 + 1;  // the longest block write there is
constexpr uint8_t kNothing = 0xFF;              // what an idle bus reads as
constexpr uint32_t kExecuteBit = uint32_t{1} << 31;

constexpr uint32_t StatusWord(MailboxStatus status) { return uint32_t{static_cast<uint8_t>(status)} << 24; }

bool IsWindow(uint8_t code) {
  return code >= mailbox::kWindowFirst && code - mailbox::kWindowFirst < mailbox::kWindowCount;
}

}  // namespace

uint32_t* MailboxTarget::Register(uint8_t code) {
  switch (code) {
    case mailbox::kCommandRegister:
      return &status_;
    case mailbox::kDataRegister:
      return &data_;
    case mailbox::kExtendedDataRegister:
      return &extended_data_;
    default:
      return nullptr;
  }
}

void MailboxTarget::Start(bool read) {
  if (!in_transaction_) pec_ = 0;
  in_transaction_ = true;
  EndWrite();
  const uint8_t address_byte = smbus::AddressByte(address_, read);
  pec_ = smbus::Pec({&address_byte, 1}, pec_);
  if (read) PrepareRead();
}

bool MailboxTarget::Write(uint8_t byte) {
  if (received_.size() == kWriteBytesMax) return false;
  received_.push_back(byte);
  pec_ = smbus::Pec({&byte, 1}, pec_);
  return true;
}

uint8_t MailboxTarget::Read() { return answered_ < answer_.size() ? answer_[answered_++] : kNothing; }

void MailboxTarget::Stop() {
  EndWrite();
  in_transaction_ = false;
}

void MailboxTarget::EndWrite() {
  const Bytes message = std::move(received_);
  received_.clear();
  if (message.empty()) return;
  code_ = message[0];
  if (message.size() == 1) return;  // only the command code, for a read to come
  // With the PEC byte itself, the code over a right transaction is zero.
  if (message.size() == kWriteBytes + 1 && pec_ != 0) {
    ++pec_errors_;
    return;
  }
  ByteReader in(ByteSpan(message).subspan(2));
  const bool well_formed = message[1] == mailbox::kRegisterBytes && message.size() >= kWriteBytes &&
                           message.size() <= kWriteBytes + 1 && Register(code_) != nullptr;
  if (!well_formed) {
    status_ = StatusWord(MailboxStatus::kErrRequest);
    return;
  }
  StoreRegister(code_, in.U32());
}

void MailboxTarget::StoreRegister(uint8_t code, uint32_t value) {
  if (code != mailbox::kCommandRegister) {
    *Register(code) = value;
  } else if ((value & kExecuteBit) != 0) {
    ExecuteCommand(value);
  }
}

void MailboxTarget::ExecuteCommand(uint32_t word) {
  CommandWord command = CommandWord::Decode(word);
  CommandHandler::Reply reply{.status = MailboxStatus::kErrRequest};
  if (!command.reserved) reply = handler_.Execute(command, data_, extended_data_);
  const bool copy_data = command.copy_data && reply.status == MailboxStatus::kSuccess;
  command.status = reply.status;
  command.execute = command.copy_data = command.reserved = false;
  status_ = command.Encode();
  if (copy_data) status_ = (status_ & 0xFF000000) | (reply.data & 0x00FFFFFF);
  data_ = reply.data;
  extended_data_ = reply.extended_data;
}

void MailboxTarget::PrepareRead() {
  answer_.clear();
  answered_ = 0;
  if (const uint32_t* const value = Register(code_)) {
    ByteWriter out;
    out.U8(mailbox::kRegisterBytes);
    out.U32(*value);
    answer_ = std::move(out).Take();
  } else if (IsWindow(code_)) {
    const ByteSpan window = handler_.Window(code_ - mailbox::kWindowFirst);
    answer_.push_back(static_cast<uint8_t>(window.size()));
    answer_.insert(answer_.end(), window.begin(), window.end());
  } else {
    return;
  }
  answer_.push_back(smbus::Pec(answer_, pec_));
}

}  // namespace sideband::mcu
