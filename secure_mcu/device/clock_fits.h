// SPDX-License-Identifier: Apache-2.0
//
// The fits of a device's own clocks, from the packets of its triggers: a controller that reads their hulls has the same
// bounds as if it had read every packet. (clocks.md, "Hulls")
//   ClockFits fits(catalog.clock_domains, clock_hz);
//   for (const mailbox::TimelineEntry& entry : timeline.entries) fits.Add(entry);
//   hulls.hulls = fits.HullsFrom(5);
#ifndef SIDEBAND_SECURE_MCU_DEVICE_CLOCK_FITS_H_
#define SIDEBAND_SECURE_MCU_DEVICE_CLOCK_FITS_H_

#include <cstdint>
#include <vector>

#include "proto/clocks/clock_strip.h"
#include "proto/clocks/mailbox_clocks.h"
#include "proto/mailbox/clocks.h"

namespace sideband::mcu {

// Not thread-safe.
class ClockFits {
 public:
  // Segments of a clock that does not change are so long at most.
  static constexpr uint64_t kSegmentSeconds = 30;

  // The limits must be valid (proto/clocks/clock_limits.h).
  ClockFits(const std::vector<mailbox::ClockDomain>& domains, uint64_t reference_hz);

  // Entries ascend by their numbers.
  void Add(const mailbox::TimelineEntry& entry);
  // The current segments of the domains that have answered a trigger from that one on; none of a clock that contradicts
  // its limits.
  std::vector<mailbox::ClockHull> HullsFrom(uint32_t first_trigger_id) const;

 private:
  struct Fit {
    mailbox::ClockDomain domain;
    clocks::ClockStrip strip;
    clocks::PacketNumbers numbers;
    uint32_t first_trigger = 0, newest_trigger = 0;  // of the current segment
    bool has_packets = false;
  };
  static void AddPacket(const mailbox::TimelineEntry& entry, const mailbox::TimelineClock& clock, Fit& fit);

  std::vector<Fit> fits_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_DEVICE_CLOCK_FITS_H_
