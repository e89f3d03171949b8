// SPDX-License-Identifier: Apache-2.0
//
// What travels from a counter collection unit to the reduction channels, and how the parts of the pipeline are named.
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_RECORD_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_RECORD_H_

#include <array>
#include <cstdint>

namespace sideband::mcu {

// The width of the counters along the way of a count.
inline constexpr uint32_t kUlcCountersMax = 45;
inline constexpr uint32_t kUlcCounterBitsMax = 9;
inline constexpr uint32_t kUlcPeriodMax = (1u << kUlcCounterBitsMax) - 1;  // 511
// A prescaled number is divided by 32: a counter gains at most one a cycle from five digits.
inline constexpr uint32_t kPrescale = 32;
inline constexpr uint32_t kPrescaledDigitsMax = 5;
// What a unit-level counter and its serialiser may hold is of fewer cycles than this.
inline constexpr uint32_t kUlcHistoryCycles = 2 * kUlcPeriodMax;
inline constexpr uint32_t kUlcLanesMax = 512;
inline constexpr uint32_t kCcuUlcsMax = 48;
inline constexpr uint32_t kCcuCounterMax = (1u << 28) - 1;
inline constexpr uint32_t kCcuThresholdDefault = 1u << 27;
inline constexpr uint32_t kRecordCounters = 8;

// The channel of a slice has the slice's number; device-scope units feed the hypervisor's channel only.
inline constexpr uint8_t kDeviceChannel = 0xFF;

struct Record {
  uint16_t ccu = 0;
  uint8_t channel = 0;      // the slice that the unit belongs to, or kDeviceChannel
  bool flush_ack = false;   // an empty record: all earlier ones of this unit have left
  uint32_t trigger_id = 0;  // the trigger that swapped the bank
  uint16_t flags = 0;       // mailbox::BlockFlag
  uint16_t first = 0;       // the unit's counter that counts[0] is
  uint16_t size = 0;        // how many of counts are used; 0 in an acknowledgement
  std::array<uint32_t, kRecordCounters> counts{};
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_RECORD_H_
