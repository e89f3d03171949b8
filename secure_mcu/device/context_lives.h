// SPDX-License-Identifier: Apache-2.0
//
// The lifetimes of a chip file's contexts: which contexts end, when, and whether they restart. The memory block of an
// ended context stays, retired, until the controller has acknowledged a snapshot with its final counts. Then either a
// successor of the next generation starts, or the block is released. (pipeline.md, "Memory blocks".)
//   ContextLives lives(file);
//   for (auto end = lives.NextEnd(); end && end->cycle <= now; end = lives.NextEnd()) {
//     Retire(end->tenant);
//     lives.End(end->tenant);
//   }
//   if (lives.restarts(tenant)) lives.Begin(tenant, now);   // once the final counts are acknowledged
#ifndef SIDEBAND_SECURE_MCU_DEVICE_CONTEXT_LIVES_H_
#define SIDEBAND_SECURE_MCU_DEVICE_CONTEXT_LIVES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "secure_mcu/chip_file/chip_spec.h"

namespace sideband::mcu {

// Tenants are numbered as in wiring.h: a VM without a context, then its contexts. Not thread-safe.
class ContextLives {
 public:
  explicit ContextLives(const ChipFile& file);

  struct EndOfLife {
    uint64_t cycle;
    size_t tenant;
  };
  // The context that ends next; absent if no context ends.
  std::optional<EndOfLife> NextEnd() const;
  // End: the context of this tenant has ended. Begin: its successor starts at `cycle`.
  void End(size_t tenant) { lives_[tenant].ends_at = std::nullopt; }
  void Begin(size_t tenant, uint64_t cycle) { lives_[tenant].ends_at = cycle + *lives_[tenant].lifetime; }
  bool restarts(size_t tenant) const { return lives_[tenant].restarts; }

 private:
  struct Life {
    std::optional<uint64_t> lifetime;  // cycles; absent: unlimited
    std::optional<uint64_t> ends_at;
    bool restarts = false;
  };
  std::vector<Life> lives_;  // per tenant
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_DEVICE_CONTEXT_LIVES_H_
