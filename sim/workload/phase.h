// SPDX-License-Identifier: Apache-2.0
//
// What an accelerator does, in phases, and how often each standard event happens in a cycle of such a phase.
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

enum class PhaseKind { kGemm, kAttention, kCopy, kAllReduce, kIdle };

// A rate in units of 2^-32 per cycle; kRateOne is in every cycle.
inline constexpr uint64_t kRateOne = uint64_t{1} << 32;

// "gemm", "attention", "copy", "all_reduce" or "idle"; anything else is INVALID_ARGUMENT with the nearest of them.
absl::StatusOr<PhaseKind> ParsePhaseKind(absl::string_view name);
absl::string_view PhaseKindName(PhaseKind kind);

// The event names of which the table has rates, sm_active_cycles first.
std::span<const std::string> StandardEvents();

// The share of cycles, at most kRateOne, in which the event's wire is 1. 0 for every event while idle. An event that is
// not in the table gets a rate from 1/64 to about 33/64 that depends on its name and the phase's name alone (FNV-1a,
// mixed), the same on every machine.
uint64_t BaseRate(PhaseKind kind, absl::string_view event);

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WORKLOAD_PHASE_H_
