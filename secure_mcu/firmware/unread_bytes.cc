// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/unread_bytes.h"

#include <algorithm>
#include <utility>

namespace sideband::mcu {
namespace {

using mailbox::NvlinkDelta;

constexpr uint64_t kDeltaMax = (1 << 20) - 1;
constexpr uint8_t kCoarsest = 3;  // TiB

constexpr int ShiftOf(uint8_t granularity) { return 10 * (granularity + 1); }

NvlinkDelta InFinestUnit(uint64_t bytes) {
  uint8_t granularity = 0;
  while (granularity < kCoarsest && bytes >> ShiftOf(granularity) > kDeltaMax) ++granularity;
  return {.granularity = granularity,
          .is_new = true,
          .delta = static_cast<uint32_t>(std::min(bytes >> ShiftOf(granularity), kDeltaMax))};
}

}  // namespace

NvlinkDelta UnreadBytes::Read(uint64_t bytes) {
  const std::optional<uint64_t> before = std::exchange(last_, bytes);
  if (!before || bytes < *before) {
    reported_ = bytes;
    return {.is_new = true, .is_invalid = true};
  }
  // A client may skip a delta that is not new, so no rest is returned there.
  if (bytes == *before) return {};
  const NvlinkDelta delta = InFinestUnit(bytes - reported_);
  reported_ += uint64_t{delta.delta} << ShiftOf(delta.granularity);
  return delta;
}

}  // namespace sideband::mcu
