// SPDX-License-Identifier: Apache-2.0
//
// The events of soc.sv, in the order of its wires and of the managers' counters.
#ifndef SIDEBAND_TESTS_LAB_RTL_SOC_EVENTS_H_
#define SIDEBAND_TESTS_LAB_RTL_SOC_EVENTS_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace sideband::rtl {

inline constexpr size_t kCores = 2;
inline constexpr size_t kSlices = 2;

// Of a core. For each slice of the second level follow the slice's events of what the core asked for.
enum CoreEvent : uint8_t {
  kCycles,  // until the core halts
  kInstructions,
  kL1iRead,
  kL1iReadMiss,
  kL1dRead,
  kL1dReadMiss,
  kL1dWrite,
  kL1dWriteMiss,
  kL1dWriteback,
  kFirstSlice,
};
enum SliceEvent : uint8_t { kRead, kReadMiss, kWrite, kWriteMiss, kWriteback, kSliceEvents };
inline constexpr size_t kCoreEvents = kFirstSlice + kSlices * kSliceEvents;
// Of the device: its cycles, and then the slices' events.
inline constexpr size_t kDeviceEvents = 1 + kSlices * kSliceEvents;

inline constexpr std::array<const char*, kFirstSlice> kCoreEventNames = {
    "cycles",       "instructions", "l1i_read",      "l1i_readmiss", "l1d_read",
    "l1d_readmiss", "l1d_write",    "l1d_writemiss", "l1d_writeback"};
inline constexpr std::array<const char*, kSliceEvents> kSliceEventNames = {"l2_read", "l2_readmiss", "l2_write",
                                                                           "l2_writemiss", "l2_writeback"};

constexpr size_t OfSlice(size_t slice, SliceEvent event) { return kFirstSlice + slice * kSliceEvents + event; }

using CoreCounts = std::array<uint64_t, kCoreEvents>;
using DeviceCounts = std::array<uint64_t, kDeviceEvents>;

// Counts of all cycles below one.
struct Tallies {
  std::array<CoreCounts, kCores> cores{};
  DeviceCounts device{};
};

}  // namespace sideband::rtl

#endif  // SIDEBAND_TESTS_LAB_RTL_SOC_EVENTS_H_
