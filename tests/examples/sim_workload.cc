// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "proto/base/status_macros.h"
#include "sim/wires/wire_source.h"
#include "sim/workload/bitwise_source.h"
#include "sim/workload/pattern_table.h"
#include "sim/workload/phase.h"
#include "sim/workload/steady_workload.h"
#include "sim/workload/synthetic_slice.h"
#include "sim/workload/workload.h"

namespace sideband::sim {
namespace {

void UseBitwiseSource(std::span<const WireId> ids, std::span<uint64_t> sums) {
  //@ sim/workload/bitwise_source.h
}

void UsePatternTable(std::span<const Pattern> patterns, std::span<const WireId> wires, std::span<uint64_t> sums) {
  //@ sim/workload/pattern_table.h
}

absl::Status UsePhase() {
  //@ sim/workload/phase.h
  return absl::OkStatus();
}

void UseSteadyWorkload(Workload workload, std::span<const WireId> ids, std::span<uint64_t> sums) {
  //@ sim/workload/steady_workload.h
}

absl::Status UseSyntheticSlice(Workload workload, std::span<const WireId> wires, std::span<uint64_t> sums) {
  //@ sim/workload/synthetic_slice.h
  return absl::OkStatus();
}

absl::Status UseWorkload() {
  //@ sim/workload/workload.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::sim
