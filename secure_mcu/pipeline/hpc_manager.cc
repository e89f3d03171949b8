// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/hpc_manager.h"

#include <bit>
#include <vector>

namespace sideband::mcu {

HpcAnswer AnswerOf(const HpcRequest& request, uint64_t grant_cycle, const HpcTiming& timing, const HpcLatch& latch) {
  std::vector<uint16_t> events;
  for (uint64_t rest = request.bitmap; rest != 0; rest &= rest - 1) {
    events.push_back(static_cast<uint16_t>(hpc::kCountersPerManager * request.manager.extend + std::countr_zero(rest)));
  }
  HpcAnswer answer{.tag = request.tag,
                   .bitmap = request.bitmap,
                   .values = std::vector<uint64_t>(events.size()),
                   .stamp_cycle = grant_cycle + timing.hop_cycles,
                   .first_cycle = grant_cycle + timing.lookup_cycles + timing.hop_cycles,
                   .interval = timing.lookup_cycles};
  if (request.stamp) answer.stamp = grant_cycle;
  if (!events.empty()) latch(events, answer.values);
  return answer;
}

}  // namespace sideband::mcu
