// SPDX-License-Identifier: Apache-2.0
//
// The phases of an accelerator's work, and the rate of each standard event in a cycle of each phase.
//   SIDEBAND_ASSIGN_OR_RETURN(const PhaseKind kind, ParsePhaseKind("gemm"));
//   const uint64_t rate = BaseRate(kind, "tensor_active_cycles");   // Q32: 2^32 is in every cycle
#ifndef SIDEBAND_SIM_WORKLOAD_PHASE_H_
#define SIDEBAND_SIM_WORKLOAD_PHASE_H_

#include <cstdint>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sideband::sim {

enum class PhaseKind { kGemm, kAttention, kCopy, kAllReduce, kIdle, kLoad, kAssign, kUpdate };

// A rate is in units of 2^-32 per cycle; kRateOne means every cycle.
inline constexpr uint64_t kRateOne = uint64_t{1} << 32;

// Accepts "gemm", "attention", "copy", "all_reduce", "idle", and the steps of k-means: "load", "assign" and "update".
// INVALID_ARGUMENT, with the nearest of them, otherwise.
absl::StatusOr<PhaseKind> ParsePhaseKind(absl::string_view name);
absl::string_view PhaseKindName(PhaseKind kind);

// The events with rates in the table, sm_active_cycles first.
std::span<const std::string> StandardEvents();

// The share of cycles, at most kRateOne, in which the event's wire is 1. 0 for every event while idle. The rate of an
// event that is not in the table is from 1/64 to about 33/64, derived from its name and the phase's name alone (FNV-1a,
// mixed), and equal on every machine.
uint64_t BaseRate(PhaseKind kind, absl::string_view event);

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WORKLOAD_PHASE_H_
