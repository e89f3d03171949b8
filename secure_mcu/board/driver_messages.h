// SPDX-License-Identifier: Apache-2.0
//
// The driver's messages in order, bounded: a full queue loses the newest ones, and says so in the record before them.
//   DriverMessages messages;
//   messages.Append({.xid = 79, .time_s = now, .text = "GPU has fallen off the bus"});
//   while (const auto event = messages.TakeOldest()) Show(*event);
#ifndef SIDEBAND_SECURE_MCU_BOARD_DRIVER_MESSAGES_H_
#define SIDEBAND_SECURE_MCU_BOARD_DRIVER_MESSAGES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "proto/mailbox/services.h"

namespace sideband::mcu {

// Not thread-safe.
class DriverMessages {
 public:
  static constexpr size_t kKept = 32;

  // Gives the message its sequence number, from 1 on. Numbers of lost messages are used up.
  void Append(mailbox::DriverEvent event);

  bool empty() const { return events_.empty(); }
  // Removes it.
  std::optional<mailbox::DriverEvent> TakeOldest();
  // The first one with this sequence number or a later one; with this time or a later one. They stay.
  std::optional<mailbox::DriverEvent> FindFrom(uint32_t sequence) const;
  std::optional<mailbox::DriverEvent> FindSince(uint32_t time_s) const;

 private:
  uint32_t last_ = 0;
  std::deque<mailbox::DriverEvent> events_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_BOARD_DRIVER_MESSAGES_H_
