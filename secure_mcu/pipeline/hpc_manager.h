// SPDX-License-Identifier: Apache-2.0
//
// The answer of an HPC manager to a request that it was granted: all selected counts as of the cycle of the grant, sent
// one by one (registers.md, "A request, step by step").
//
//   client.Deliver(AnswerOf(grant.request, grant.cycle, timing, latch));
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_HPC_MANAGER_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_HPC_MANAGER_H_

#include <cstdint>
#include <functional>
#include <span>

#include "secure_mcu/pipeline/hpc.h"

namespace sideband::mcu {

// Writes the live count of events[i] to counts[i], which is 0 before.
using HpcLatch = std::function<void(std::span<const uint16_t> events, std::span<uint64_t> counts)>;

// `latch` is called once, unless the request selects no counter.
HpcAnswer AnswerOf(const HpcRequest& request, uint64_t grant_cycle, const HpcTiming& timing, const HpcLatch& latch);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_HPC_MANAGER_H_
