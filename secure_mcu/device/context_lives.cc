// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/device/context_lives.h"

#include <algorithm>

#include "secure_mcu/device/cycles.h"

namespace sideband::mcu {

ContextLives::ContextLives(const ChipFile& file) {
  for (const VmFileSpec& vm : file.vms) {
    lives_.emplace_back();  // the tenant of the VM without a context
    for (const ContextFileSpec& context : vm.contexts) {
      Life& life = lives_.emplace_back();
      life.restarts = context.restart;
      if (!context.lifetime) continue;
      life.lifetime = std::max<uint64_t>(1, CyclesOf(*context.lifetime, file.pipeline.clock_hz));
      life.ends_at = life.lifetime;
    }
  }
}

std::optional<ContextLives::EndOfLife> ContextLives::NextEnd() const {
  std::optional<EndOfLife> next;
  for (size_t tenant = 0; tenant < lives_.size(); ++tenant) {
    const auto& ends_at = lives_[tenant].ends_at;
    if (ends_at && (!next || *ends_at < next->cycle)) next = EndOfLife{*ends_at, tenant};
  }
  return next;
}

}  // namespace sideband::mcu
