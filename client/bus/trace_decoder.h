// SPDX-License-Identifier: Apache-2.0
//
// Decodes bus transactions into text, in the notation of a logic analyser.
//   TraceDecoder decoder(100'000);
//   const TraceEntry entry = decoder.Decode(record);
//   entry.wire;       // "S 4F+W 5C 04 02 00 00 80 pec 56 ok P"
//   entry.meaning;    // {"-> command: GET_TEMP GPU0"}
#ifndef SIDEBAND_CLIENT_BUS_TRACE_DECODER_H_
#define SIDEBAND_CLIENT_BUS_TRACE_DECODER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "client/bus/mailbox_follower.h"
#include "client/bus/stream_follower.h"
#include "client/bus/wire.h"
#include "proto/smbus/monitor_frame.h"

namespace sideband::client {

struct TraceEntry {
  uint64_t time_us = 0;
  double bus_us = 0;                  // how long the bus was busy: its bits, and clock stretching
  std::vector<WireMessage> messages;  // views into the record
  std::string wire;
  std::vector<std::string> meaning;  // lines that begin with "-> ", "<- " or "!! " (mailbox_follower.h)
};

// Not thread-safe. Records are hostile; memory is bounded for any input.
class TraceDecoder {
 public:
  explicit TraceDecoder(uint32_t bus_hz) : bus_hz_(bus_hz) {}

  // Records must be passed in the order of the bus. The entry must not outlive the record.
  TraceEntry Decode(const smbus::BusRecord& record);
  // Transactions are missing at this point. Discards the state of all mailboxes, which no longer holds.
  void Lost() { followers_.clear(); }

 private:
  MailboxFollower& Follower(uint8_t address);

  const uint32_t bus_hz_;
  StreamFollower::Budget budget_;
  std::map<uint8_t, std::unique_ptr<MailboxFollower>> followers_;  // by address
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_TRACE_DECODER_H_
