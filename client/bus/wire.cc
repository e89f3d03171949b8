// SPDX-License-Identifier: Apache-2.0
#include "client/bus/wire.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/smbus/transfer.h"

namespace sideband::client {
namespace {

using smbus::BusRecord;
using smbus::Message;
using smbus::Outcome;

// Messages of up to kShownWhole bytes are shown whole; longer ones as their first kShownFirst bytes and the last.
constexpr size_t kShownWhole = 12;
constexpr size_t kShownFirst = 8;

// The number of messages that took place, including the one in which the transaction ended.
size_t MessagesOnTheWire(const BusRecord& record) {
  const std::vector<Message>& messages = record.transfer.messages;
  if (!record.result.has_value() || record.result->outcome == Outcome::kOk) return messages.size();
  if (messages.empty()) return 0;
  const size_t reads = record.result->read.size();
  std::set<uint8_t> answered;
  size_t i = 0;
  // Messages up to the last completed read have taken place; their targets have acknowledged their addresses.
  for (size_t seen = 0; i < messages.size() && seen < reads; ++i) {
    if (messages[i].read) ++seen;
    answered.insert(messages[i].address);
  }
  if (record.result->outcome == Outcome::kBadCount) return std::clamp<size_t>(i, 1, messages.size());  // the last read
  for (; i < messages.size() && !messages[i].read; ++i) {
    // Outcomes other than an address NACK are attributed to the first write that has bytes.
    if (record.result->outcome != Outcome::kAddressNack && !messages[i].write_bytes.empty()) break;
    if (!answered.contains(messages[i].address)) break;
  }
  return std::min(i + 1, messages.size());
}

void AppendHex(std::string& text, ByteSpan bytes) {
  for (const uint8_t byte : bytes) absl::StrAppendFormat(&text, " %02X", byte);
}

void AppendBytes(std::string& text, ByteSpan bytes) {
  if (bytes.size() <= kShownWhole) return AppendHex(text, bytes);
  AppendHex(text, bytes.first(kShownFirst));
  text += " ..";
  AppendHex(text, bytes.last(1));
}

void AppendMessage(std::string& text, const WireMessage& message) {
  absl::StrAppendFormat(&text, " %02X+%c", message.address, message.read ? 'R' : 'W');
  if (message.end == Outcome::kAddressNack) return;
  if (!message.pec.has_value()) return AppendBytes(text, message.bytes);
  AppendBytes(text, message.bytes.first(message.pec->index));
  absl::StrAppendFormat(&text, " pec %02X %s", message.pec->actual, message.pec->ok() ? "ok" : "WRONG");
  AppendBytes(text, message.bytes.subspan(message.pec->index + 1));
}

// The end of the transaction, in a logic analyser's notation.
const char* EndText(const std::optional<smbus::TransferResult>& result) {
  if (!result.has_value()) return " ?";
  switch (result->outcome) {
    case Outcome::kOk:
    case Outcome::kBadCount:
      return " P";
    case Outcome::kAddressNack:
    case Outcome::kDataNack:
      return " NACK P";
    case Outcome::kArbitrationLost:
      return " LOST";
    case Outcome::kTimeout:
      return " TIMEOUT P";
  }
  return " ?";
}

}  // namespace

std::vector<WireMessage> OnTheWire(const BusRecord& record) {
  const size_t count = MessagesOnTheWire(record);
  std::vector<WireMessage> wire;
  size_t reads = 0;
  for (size_t i = 0; i < count; ++i) {
    const Message& message = record.transfer.messages[i];
    WireMessage& on_wire =
        wire.emplace_back(WireMessage{.address = message.address, .read = message.read, .bytes = message.write_bytes});
    if (message.read) {
      const bool has_bytes = record.result.has_value() && reads < record.result->read.size();
      on_wire.bytes = has_bytes ? ByteSpan(record.result->read[reads++]) : ByteSpan();
    }
  }
  if (!wire.empty() && record.result.has_value()) {
    wire.back().end = record.result->outcome;
    if (wire.back().end == Outcome::kAddressNack) wire.back().bytes = {};
  }
  return wire;
}

uint64_t WireBits(const std::vector<WireMessage>& wire) {
  smbus::Transfer transfer;
  smbus::TransferResult result;
  for (const WireMessage& message : wire) {
    Bytes bytes(message.bytes.begin(), message.bytes.end());
    if (message.read) {
      // BitTimes() counts the bytes in the result, not the requested ones.
      transfer.messages.push_back(Message::Read(message.address, 0));
      result.read.push_back(std::move(bytes));
    } else {
      transfer.messages.push_back(Message::Write(message.address, std::move(bytes)));
    }
  }
  return smbus::BitTimes(transfer, result);
}

std::string WireText(const std::vector<WireMessage>& wire, const std::optional<smbus::TransferResult>& result) {
  std::string text;
  for (const WireMessage& message : wire) {
    text += text.empty() ? "S" : " Sr";
    AppendMessage(text, message);
  }
  return text + EndText(result);
}

}  // namespace sideband::client
