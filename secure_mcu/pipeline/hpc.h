// SPDX-License-Identifier: Apache-2.0
//
// Messages between the clients and the managers of the register read path (registers.md, "A request, step by step").
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_HPC_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_HPC_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "proto/registers/hpc_registers.h"

namespace sideband::mcu {

// Latencies of the path, in cycles of the reference clock, 1 to kHpcLatencyMax: a peek advances an emulated device's
// clock by them, so that they must be short beside the time of a transaction.
inline constexpr uint32_t kHpcLatencyMax = 64;
struct HpcTiming {
  uint32_t hop_cycles = hpc::kHopCycles;        // client to manager, and back
  uint32_t lookup_cycles = hpc::kLookupCycles;  // per value at the manager
};

inline constexpr uint64_t kNoCycle = std::numeric_limits<uint64_t>::max();

// `field` of a register's word, if it is set.
constexpr uint64_t FieldIf(bool set, uint64_t field) { return set ? field : 0; }

// 17 bits: 64 counters of one module.
struct HpcManagerId {
  uint16_t module = 0;  // below 2048
  uint8_t extend = 0;   // below 64
  auto operator<=>(const HpcManagerId&) const = default;
};

struct HpcRequest {
  HpcManagerId manager;
  uint64_t bitmap = 0;
  bool stamp = false;
  uint8_t tag = 0;
};

// All values of a request: those of the bitmap in ascending order of bits. They arrive one by one.
struct HpcAnswer {
  uint8_t tag = 0;
  uint64_t bitmap = 0;
  std::optional<uint64_t> stamp;  // arrives first
  std::vector<uint64_t> values;
  uint64_t stamp_cycle = 0;  // in which the stamp arrives
  uint64_t first_cycle = 0;  // in which the first value arrives
  uint32_t interval = 1;     // cycles from one value to the next
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_HPC_H_
