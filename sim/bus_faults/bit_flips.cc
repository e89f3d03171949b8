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

// What the controller clocks where nobody answers: the count byte, if it asks for one, reads as 255.
size_t IdleBytes(const Message& message) {
  return message.block ? 1 + size_t{kIdleByte} + message.read_size : message.read_size;
}

// The message as the target sees it when its address byte changes.
Message WithAddressFlipped(const Message& message, uint8_t mask) {
  const uint8_t address = message.address ^ mask >> 1;
  Message seen = message;
  if ((mask & kDirectionBit) != 0) {
    seen = message.read ? Message::Write(address, Bytes(IdleBytes(message), kIdleByte)) : Message::Read(address, 1);
  }
  seen.address = address;
  return seen;
}

// What the targets see: up to the first message that they take for something else.
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
  if (!message.block || offset != 0) return;
  if (answer[0] == 0) {
    answer.resize(1);
    result.outcome = Outcome::kBadCount;
  } else {
    answer.resize(1 + size_t{answer[0]} + message.read_size, kIdleByte);
  }
}

// What the controller makes of a message whose direction the target took for the other one.
void NoticeTurned(const Message& message, TransferResult& result) {
  if (message.read && (result.outcome == Outcome::kOk || result.outcome == Outcome::kDataNack)) {
    result.outcome = Outcome::kOk;  // a controller that reads does not see what the target refuses
    result.read.emplace_back(IdleBytes(message), kIdleByte);
  } else if (!message.read && result.outcome == Outcome::kOk) {
    result.outcome = Outcome::kArbitrationLost;
    result.read.pop_back();
  }
}

}  // namespace

TransferResult ExecuteFlipped(smbus::Bus& bus, const Transfer& transfer, std::span<const BitFlip> flips) {
  Transfer seen = Seen(transfer, flips);
  size_t turned = 0;  // the first message that is taken for something else
  while (turned < seen.messages.size() && seen.messages[turned].read == transfer.messages[turned].read) ++turned;
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
