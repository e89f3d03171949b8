// SPDX-License-Identifier: Apache-2.0
//
// The shape of a machine: its cores, caches and latencies.
//   MachineShape shape{.cores = 2, .l1d = {.bytes = 8 << 10, .ways = 2}};
//   SIDEBAND_RETURN_IF_ERROR(Validate(shape));
#ifndef SIDEBAND_SIM_RISCV_SHAPE_H_
#define SIDEBAND_SIM_RISCV_SHAPE_H_

#include <cstdint>

#include "absl/status/status.h"

namespace sideband::riscv {

struct CacheShape {
  uint32_t bytes;
  uint32_t ways;

  bool operator==(const CacheShape&) const = default;
};

struct MachineShape {
  static constexpr uint32_t kCoresMax = 8;
  static constexpr uint32_t kSlicesMax = 16;

  uint32_t cores = 1;                            // 1 to kCoresMax
  uint64_t memory_bytes = uint64_t{16} << 20;    // of each core; a power of two, 64 KiB to 1 GiB
  uint32_t line_bytes = 64;                      // of every cache; a power of two, 16 to 256
  CacheShape l1i{.bytes = 16 << 10, .ways = 4};  // of each core
  CacheShape l1d{.bytes = 16 << 10, .ways = 4};  // of each core
  CacheShape l2{.bytes = 256 << 10, .ways = 8};  // all slices together
  uint32_t l2_slices = 2;                        // a power of two, 1 to kSlicesMax; line n is in slice n mod l2_slices
  // Latencies in cycles, each 1 to 10,000; machine.h says what they delay.
  uint32_t hop_cycles = 1;      // from a core to a slice
  uint32_t l2_cycles = 10;      // a slice's answer
  uint32_t memory_cycles = 60;  // the memory's answer, in addition

  bool operator==(const MachineShape&) const = default;
};

// INVALID_ARGUMENT "NAME must be …" for a value out of its range, or for a cache whose sets are not a power of two.
// Caches are at most 64 MiB and have 1 to 32 ways.
absl::Status Validate(const MachineShape& shape);

}  // namespace sideband::riscv

#endif  // SIDEBAND_SIM_RISCV_SHAPE_H_
