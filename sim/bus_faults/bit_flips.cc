// SPDX-License-Identifier: Apache-2.0
#include "sim/bus_faults/bit_flips.h"

#include <utility>

namespace sideband::sim {
namespace {

using smbus::Message;
using smbus::Outcome;
using smbus::Transfer;
using smbus::TransferResult;

constexpr uint8_t kDirectionBit = 1;  // of an address byte

// The bytes that the controller clocks without an answer. A count byte, if it reads one, is 255 on an idle bus.
size_t IdleBytes(const Message& message) {
  return message.block ? 1 + size_t{kIdleByte} + message.read_size : message.read_size;
}

// The message as a target sees it if its address byte changes.
Message WithAddressFlipped(const Message& message, uint8_t mask) {
  const uint8_t address = message.address ^ mask >> 1;
  Message seen = message;
  if ((mask & kDirectionBit) != 0) {
    seen = message.read ? Message::Write(address, Bytes(IdleBytes(message), kIdleByte)) : Message::Read(address, 1);
  }
  seen.address = address;
  return seen;
}

// The transaction as the targets see it, not yet cut at the first message with a misread direction.
Transfer Seen(const Transfer& transfer, std::span<const BitFlip> flips) {
  Transfer seen = transfer;
  for (const BitFlip& flip : flips) {
    Message& message = seen.messages[flip.place.message];
    const bool turned = message.read != transfer.messages[flip.place.message].read;
    if (flip.place.part == WirePlace::Part::kWritten && !turned) message.write_bytes[flip.place.offset] ^= flip.mask;
    if (flip.place.part == WirePlace::Part::kAddress) message = WithAddressFlipped(message, flip.mask);
  }
  return seen;
}

void FlipRead(const Message& message, const BitFlip& flip, TransferResult& result, Bytes& answer) {
  if (answer.empty()) return;
  const size_t offset = flip.place.offset % answer.size();
  answer[offset] ^= flip.mask;
  // The controller clocks as many bytes as the changed count byte announces.
  if (!message.block || offset != 0) return;
  if (answer[0] == 0) {
    answer.resize(1);
    result.outcome = Outcome::kBadCount;
  } else {
    answer.resize(1 + size_t{answer[0]} + message.read_size, kIdleByte);
  }
}

// The outcome of a message whose direction the target misread.
void NoticeTurned(const Message& message, TransferResult& result) {
  if (message.read && (result.outcome == Outcome::kOk || result.outcome == Outcome::kDataNack)) {
    result.outcome = Outcome::kOk;  // a reading controller cannot see a NACK of the target
    result.read.emplace_back(IdleBytes(message), kIdleByte);
  } else if (!message.read && result.outcome == Outcome::kOk) {
    result.outcome = Outcome::kArbitrationLost;
    result.read.pop_back();
  }
}

}  // namespace

TransferResult ExecuteFlipped(smbus::Bus& bus, const Transfer& transfer, std::span<const BitFlip> flips) {
  Transfer seen = Seen(transfer, flips);
  size_t turned = 0;  // the first message with a misread direction
  while (turned < seen.messages.size() && seen.messages[turned].read == transfer.messages[turned].read) ++turned;
  // The wire is out of step after this message, so the rest is not sent.
  if (turned < seen.messages.size()) seen.messages.resize(turned + 1);

  TransferResult result = bus.Execute(seen);
  if (turned < seen.messages.size()) NoticeTurned(transfer.messages[turned], result);
  for (const BitFlip& flip : flips) {
    if (flip.place.part != WirePlace::Part::kRead) continue;
    size_t read = 0;
    for (size_t i = 0; i < flip.place.message; ++i) read += transfer.messages[i].read ? 1 : 0;
    if (read < result.read.size()) FlipRead(transfer.messages[flip.place.message], flip, result, result.read[read]);
  }
  return result;
}

}  // namespace sideband::sim
