// SPDX-License-Identifier: Apache-2.0
//
// The clock domains and bookmarks of an emulated device, as controllers see them (clocks.md; proto/mailbox/clocks.h).
//   ClockControls clocks(*chip);
//   catalog.clock_domains = clocks.Domains();
//   clocks.AddNumbers(snapshot);                        // right after a latch
//   const mailbox::Timeline timeline = clocks.TimelineFrom(5);
#ifndef SIDEBAND_SECURE_MCU_DEVICE_CLOCK_CONTROLS_H_
#define SIDEBAND_SECURE_MCU_DEVICE_CLOCK_CONTROLS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "proto/mailbox/clocks.h"
#include "proto/mailbox/snapshot.h"
#include "secure_mcu/chip/chip.h"

namespace sideband::mcu {

// Not thread-safe.
class ClockControls {
 public:
  // `chip` must outlive it.
  explicit ClockControls(Chip& chip) : chip_(chip) {}

  // In the order of the chip's rows; none of a chip without domains.
  std::vector<mailbox::ClockDomain> Domains() const;
  // The domain of a unit of that clock, as EventDetails::clock_domain has it: 0 is the reference clock's.
  uint8_t DomainOf(uint8_t channel, uint32_t domain) const;

  // INVALID_ARGUMENT: a domain that the chip does not have.
  absl::Status Select(uint64_t domains);
  // In reference cycles. With a shorter period of the grid the packet of an edge could be either of two triggers'.
  uint64_t GridPeriodMin() const;
  // In every reference packet from now on.
  void SetOwnBookmark(uint32_t bookmark);

  // What has arrived of the triggers from one on; of a chip without domains, nothing. The boot is left to the caller.
  mailbox::Timeline TimelineFrom(uint32_t first_trigger_id);
  // The readings of the newest latch and the bookmarks that are kept, into a snapshot of all blocks that are not
  // released.
  void AddNumbers(mailbox::Snapshot& snapshot) const;

 private:
  std::vector<std::optional<mailbox::ClockReading>> Readings() const;
  std::vector<mailbox::ServedBookmark> Bookmarks() const;

  Chip& chip_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_DEVICE_CLOCK_CONTROLS_H_
