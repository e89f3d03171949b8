// SPDX-License-Identifier: Apache-2.0
#include "sim/bus/transfer_edits.h"

#include <algorithm>
#include <utility>

#include "proto/mailbox/word.h"
#include "proto/smbus/transfer.h"

namespace sideband::sim {
namespace {

using smbus::Message;
using smbus::Transfer;
using smbus::TransferResult;

size_t DataBytes(const Message& message) {
  if (!message.read) return message.write_bytes.size();
  // The length of a block is up to the target; that of a register is assumed.
  return message.block ? 1 + mailbox::kRegisterBytes + size_t{message.read_size} : message.read_size;
}

Message Shortened(const Message& message, size_t data_bytes) {
  if (message.read) return Message::Read(message.address, static_cast<uint16_t>(data_bytes));
  return Message::Write(
      message.address, Bytes(message.write_bytes.begin(), message.write_bytes.begin() + static_cast<long>(data_bytes)));
}

}  // namespace

size_t WireBytes(const Transfer& transfer) {
  size_t bytes = 0;
  for (const Message& message : transfer.messages) bytes += 1 + DataBytes(message);
  return bytes;
}

WirePlace PlaceOf(const Transfer& transfer, size_t byte) {
  WirePlace place;
  while (byte > DataBytes(transfer.messages[place.message])) byte -= 1 + DataBytes(transfer.messages[place.message++]);
  if (byte == 0) return place;
  place.part = transfer.messages[place.message].read ? WirePlace::Part::kRead : WirePlace::Part::kWritten;
  place.offset = byte - 1;
  return place;
}

Transfer Prefix(const Transfer& transfer, size_t bytes) {
  Transfer prefix;
  for (const Message& message : transfer.messages) {
    if (bytes == 0) break;
    const size_t data_bytes = std::min(bytes - 1, DataBytes(message));
    prefix.messages.push_back(data_bytes < DataBytes(message) ? Shortened(message, data_bytes) : message);
    bytes -= 1 + data_bytes;
  }
  return prefix;
}

uint8_t PecOverAll(const Transfer& transfer, const TransferResult& result) {
  uint8_t pec = 0;
  size_t reads = 0;
  for (const Message& message : transfer.messages) {
    const uint8_t address = smbus::AddressByte(message.address, message.read);
    pec = smbus::Pec({&address, 1}, pec);
    // The transaction ended before this read.
    if (message.read && reads == result.read.size()) break;
    pec = smbus::Pec(message.read ? result.read[reads++] : message.write_bytes, pec);
  }
  return pec;
}

bool EndsWithBlock(const Transfer& transfer, const TransferResult& result) {
  if (transfer.messages.empty() || !transfer.messages.back().read || result.read.empty()) return false;
  const Bytes& answer = result.read.back();
  return !answer.empty() && answer[0] != 0 && answer.size() >= 1 + size_t{answer[0]};
}

void AnswerBlock(ByteSpan data, const Transfer& transfer, TransferResult& result) {
  const Message& message = transfer.messages.back();
  Bytes& answer = result.read.back();
  answer = {static_cast<uint8_t>(data.size())};
  answer.insert(answer.end(), data.begin(), data.end());
  answer.push_back(PecOverAll(transfer, result));
  // The controller may clock fewer or more bytes than the answer has.
  answer.resize(message.block ? 1 + data.size() + message.read_size : message.read_size, kIdleByte);
  // A block read ends at a count of 0.
  if (message.block && data.empty()) {
    answer.resize(1);
    result.outcome = smbus::Outcome::kBadCount;
  }
}

}  // namespace sideband::sim
