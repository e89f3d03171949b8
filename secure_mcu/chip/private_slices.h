// SPDX-License-Identifier: Apache-2.0
//
// The slices whose resident VM is private: their records stay out of the device-wide channels, so that neither the
// device's block nor the out-of-band one has anything of such a VM. (virtual-counters.md, "Mechanism".)
//   PrivateSlices slices;
//   slices.Bind(2, control.is_private);     // with each resident
//   if (!slices.Contains(record.channel)) AddToDevice(record);
#ifndef SIDEBAND_SECURE_MCU_CHIP_PRIVATE_SLICES_H_
#define SIDEBAND_SECURE_MCU_CHIP_PRIVATE_SLICES_H_

#include <cstdint>

#include "secure_mcu/pipeline/record.h"

namespace sideband::mcu {

// Slices are 0 to 63. Not thread-safe.
class PrivateSlices {
 public:
  // The slice's channel is bound anew, after all records of its last resident have been routed. `is_private` holds for
  // the whole residency: a control block that changes meanwhile changes nothing.
  void Bind(uint8_t slice, bool is_private) {
    const uint64_t bit = uint64_t{1} << slice;
    slices_ = is_private ? slices_ | bit : slices_ & ~bit;
  }

  // False for kDeviceChannel.
  bool Contains(uint8_t channel) const { return channel != kDeviceChannel && (slices_ >> channel & 1) != 0; }

 private:
  uint64_t slices_ = 0;  // bit n: slice n
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_PRIVATE_SLICES_H_
