// SPDX-License-Identifier: Apache-2.0
//
// Values that the blocks pass on: records, which carry counts from a counter collection unit to the reduction channels;
// reductions, the sums that these commit, and the pages where they commit them. Also the dimensions of the units, and
// saturating addition of 64-bit counters.
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_RECORD_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_RECORD_H_

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "proto/mailbox/counting.h"

namespace sideband::mcu {

// Dimensions of the units along the path of a count.
inline constexpr uint32_t kUlcCountersMax = 45;
inline constexpr uint32_t kUlcCounterBitsMax = 9;
inline constexpr uint32_t kUlcPeriodMax = (1u << kUlcCounterBitsMax) - 1;  // 511
// A prescaled number is divided by 32. Five digits add at most 31 per cycle, so a counter gains at most one per cycle.
inline constexpr uint32_t kPrescale = 32;
inline constexpr uint32_t kPrescaledDigitsMax = 5;
// A unit-level counter and its serialiser hold the counts of fewer cycles than this.
inline constexpr uint32_t kUlcHistoryCycles = 2 * kUlcPeriodMax;
inline constexpr uint32_t kUlcLanesMax = 512;
inline constexpr uint32_t kCcuUlcsMax = 48;
inline constexpr uint32_t kCcuCounterMax = (1u << 28) - 1;
inline constexpr uint32_t kCcuThresholdDefault = 1u << 27;
inline constexpr uint32_t kRecordCounters = 8;

// Channel of the device-scope units, which feed the device-wide channels (hypervisor, out-of-band) only. The channel of
// a slice has the slice's number.
inline constexpr uint8_t kDeviceChannel = 0xFF;

struct Record {
  uint16_t ccu = 0;
  uint8_t channel = 0;      // the unit's slice, or kDeviceChannel
  bool flush_ack = false;   // an empty record: all earlier records of the unit have been sent
  uint8_t select = 0;       // the selection by which the unit's counters have their meanings
  uint32_t trigger_id = 0;  // the trigger that swapped the bank
  uint16_t flags = 0;       // mailbox::BlockFlag
  uint16_t first = 0;       // number of the unit's counter in counts[0]
  uint16_t size = 0;        // used elements of counts; 0 in an acknowledgement
  std::array<uint32_t, kRecordCounters> counts{};
};

// The sums per event that a reduction channel has since its last commit to the memory blocks.
struct Reduction {
  std::vector<uint64_t> counts;
  mailbox::EventSet saturated;  // events of which counts are missing; empty if there is none
  uint16_t flags = 0;           // mailbox::BlockFlag
  uint32_t trigger_id = 0;      // the newest trigger whose counts are included
};

// A page of one memory block, in the address space of a VM.
using VirtualPage = uint32_t;

// The content of a reduction channel's register: where its commits go, and in whose space these pages are meant.
struct CommitTarget {
  uint16_t space = 0;  // the number of the VM
  VirtualPage vm = 0;
  std::optional<VirtualPage> context;  // absent while a VM is resident without a context
  bool operator==(const CommitTarget&) const = default;
};

// Adds `value` to `counter`. If the sum would wrap, saturates at 2^64 - 1 and returns false.
inline bool AddSaturating(uint64_t value, uint64_t& counter) {
  if (!__builtin_add_overflow(counter, value, &counter)) return true;
  counter = std::numeric_limits<uint64_t>::max();
  return false;
}

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_RECORD_H_
