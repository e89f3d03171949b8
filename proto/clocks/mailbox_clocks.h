// SPDX-License-Identifier: Apache-2.0
//
// Between what a device says of its clocks (proto/mailbox/clocks.h) and what the fit takes.
//   SIDEBAND_ASSIGN_OR_RETURN(ClockStrip strip, ClockStrip::Create(LimitsOf(domain), {}));
//   PacketNumbers numbers;
//   const auto added = strip.Add(PacketOf(domain, entry, entry.clocks[0], numbers));
#ifndef SIDEBAND_PROTO_CLOCKS_MAILBOX_CLOCKS_H_
#define SIDEBAND_PROTO_CLOCKS_MAILBOX_CLOCKS_H_

#include <cstdint>
#include <optional>

#include "proto/clocks/clock_limits.h"
#include "proto/clocks/clock_strip.h"
#include "proto/mailbox/clocks.h"

namespace sideband::clocks {

ClockLimits LimitsOf(const mailbox::ClockDomain& domain);

// Remembers one domain's packets from one to the next: numbers of triggers begin again after 2^32, and
// changes are counted. Not thread-safe.
class PacketNumbers {
 public:
  // The trigger's number, made to ascend: less than 2^31 before the newest one, it is an earlier one.
  uint64_t Widen(uint32_t trigger_id);
  // Whether the clock has changed since the packet before; of the first one, false.
  bool HasChanged(uint32_t changes);

 private:
  uint64_t newest_ = 0;
  std::optional<uint32_t> changes_;
};

// A packet of a trigger's timeline, or of a snapshot's latch.
ClockPacket PacketOf(const mailbox::ClockDomain& domain, const mailbox::TimelineEntry& entry,
                     const mailbox::TimelineClock& clock, PacketNumbers& numbers);
struct LatchInstant {
  uint32_t trigger_id = 0;
  uint64_t reference_cycle = 0;
};
ClockPacket PacketOf(const mailbox::ClockDomain& domain, const LatchInstant& latch,
                     const mailbox::ClockReading& reading, PacketNumbers& numbers);

// The hulls of a segment as they are sent, but for its domain and its first trigger, and back. Any hull is taken: the
// result may be one that ClockStrip::OfHulls refuses; nullopt if it is beyond what can be written as one.
mailbox::ClockHull HullOf(const StripHulls& hulls);
std::optional<StripHulls> HullsOf(const mailbox::ClockHull& hull);

}  // namespace sideband::clocks

#endif  // SIDEBAND_PROTO_CLOCKS_MAILBOX_CLOCKS_H_
