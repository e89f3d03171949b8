// SPDX-License-Identifier: Apache-2.0
//
// The growth of a byte count between two reads, as GET_NVLINK_INFO returns it: in 20 bits, and in a unit that fits.
//   UnreadBytes unread;
//   unread.Read(5'000);                              // is_invalid: there is nothing to compare with
//   const auto delta = unread.Read(5'000 + 2'048);   // 2 KiB
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_UNREAD_BYTES_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_UNREAD_BYTES_H_

#include <cstdint>
#include <optional>

#include "proto/mailbox/link_info.h"

namespace sideband::mcu {

// Not thread-safe.
class UnreadBytes {
 public:
  // `bytes` is the count so far. The delta is in the finest unit in which it fits 20 bits. What is less than a unit, or
  // beyond 2^20 - 1 TiB, belongs to the next read with a new sample, so no byte is lost. A count below the last one has
  // restarted, and so have its deltas.
  mailbox::NvlinkDelta Read(uint64_t bytes);

 private:
  std::optional<uint64_t> last_;  // the count at the last read
  uint64_t reported_ = 0;         // how much of it the deltas have covered
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_UNREAD_BYTES_H_
