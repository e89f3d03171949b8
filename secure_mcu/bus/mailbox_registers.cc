// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/bus/mailbox_registers.h"

namespace sideband::mcu {
namespace {

using mailbox::CommandWord;
using mailbox::MailboxStatus;

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
  // What has no place in the data registers comes before the copy of what is there.
  if (!reply.word_bits && !word.copy_data) return answer;
  return (answer & ~kWordBits) | (reply.word_bits.value_or(reply.data) & kWordBits);
}

}  // namespace

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

}  // namespace sideband::mcu
