// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/virtual_bus.h"

#include <set>

namespace sideband::mcu {
namespace {

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

}  // namespace sideband::mcu
