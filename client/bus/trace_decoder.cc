// SPDX-License-Identifier: Apache-2.0
#include "client/bus/trace_decoder.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "proto/smbus/pec.h"

namespace sideband::client {
namespace {

using smbus::Outcome;

// The transaction's error; empty if it succeeded.
std::string ErrorText(const smbus::BusRecord& record, const std::vector<WireMessage>& wire) {
  if (!record.result.has_value()) return "!! no result: the bus could not be used, or the controller vanished";
  switch (record.result->outcome) {
    case Outcome::kOk:
      return "";
    case Outcome::kAddressNack:
      return wire.empty() ? "!! no device answers"
                          : absl::StrFormat("!! no device answers at 0x%02x", wire.back().address);
    case Outcome::kDataNack:
      return "!! the device refused a byte";
    case Outcome::kArbitrationLost:
      return "!! arbitration lost to another controller";
    case Outcome::kTimeout:
      return "!! the clock was held low for too long";
    case Outcome::kBadCount:
      return "!! a block's count was 0 or above 255";
  }
  return "!! ended in an unknown way";
}

}  // namespace

MailboxFollower& TraceDecoder::Follower(uint8_t address) {
  auto& follower = followers_[address];
  if (follower == nullptr) follower = std::make_unique<MailboxFollower>(budget_);
  return *follower;
}

TraceEntry TraceDecoder::Decode(const smbus::BusRecord& record) {
  TraceEntry entry{.time_us = record.time_us, .messages = OnTheWire(record)};
  std::vector<WireMessage>& wire = entry.messages;
  uint8_t pec = 0;
  // Without a result it is unknown which messages took place.
  for (size_t i = 0; record.result.has_value() && i < wire.size(); ++i) {
    const uint8_t address_byte = smbus::AddressByte(wire[i].address, wire[i].read);
    // One packet error code covers a write and the read after the repeated START; any other START begins a new one.
    const bool goes_on = i > 0 && wire[i].read && !wire[i - 1].read && wire[i].address == wire[i - 1].address;
    pec = smbus::Pec({&address_byte, 1}, goes_on ? pec : 0);
    const bool is_pointer = i + 1 < wire.size() && wire[i + 1].read && wire[i + 1].address == wire[i].address;
    Follower(wire[i].address).Message(wire[i], pec, is_pointer, entry.meaning);
    pec = smbus::Pec(wire[i].bytes, pec);
  }
  if (std::string error = ErrorText(record, wire); !error.empty()) entry.meaning.push_back(std::move(error));
  entry.wire = WireText(wire, record.result);
  const uint32_t stretch_us = record.result.has_value() ? record.result->stretch_us : 0;
  if (stretch_us > 0) entry.meaning.push_back(absl::StrFormat("<- held the clock low for %d us", stretch_us));
  entry.bus_us = WireBits(wire) * 1e6 / bus_hz_ + stretch_us;
  return entry;
}

}  // namespace sideband::client
