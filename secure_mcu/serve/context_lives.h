// SPDX-License-Identifier: Apache-2.0
//
// Which contexts of a chip file end, when, and what becomes of them. A context that has ended keeps its memory block,
// retired, until the controller has acknowledged a snapshot that holds its final counts; then a successor starts, of
// the next generation, or the block is released. (pipeline.md, "Memory blocks".)
//   ContextLives lives(file);
//   while (auto end = lives.NextEnd(); end && end->cycle <= now) {
//     Retire(end->tenant);
//     lives.End(end->tenant);
//   }
//   if (lives.restarts(tenant)) lives.Begin(tenant, now);   // once the final counts are acknowledged
#ifndef SIDEBAND_SECURE_MCU_SERVE_CONTEXT_LIVES_H_
#define SIDEBAND_SECURE_MCU_SERVE_CONTEXT_LIVES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "secure_mcu/serve/chip_spec.h"

namespace sideband::mcu {

// Tenants are counted as wiring.h does: a VM without a context, then its contexts. Not thread-safe.
class ContextLives {
 public:
  explicit ContextLives(const ChipFile& file);

  struct EndOfLife {
    uint64_t cycle;
    size_t tenant;
  };
  // The next context to end; none where none does.
  std::optional<EndOfLife> NextEnd() const;
  // The context of this tenant has ended, or a new one of its name begins at `cycle`.
  void End(size_t tenant) { lives_[tenant].ends_at = std::nullopt; }
  void Begin(size_t tenant, uint64_t cycle) { lives_[tenant].ends_at = cycle + *lives_[tenant].lifetime; }
  bool restarts(size_t tenant) const { return lives_[tenant].restarts; }

 private:
  struct Life {
    std::optional<uint64_t> lifetime;  // cycles; none: for ever
    std::optional<uint64_t> ends_at;
    bool restarts = false;
  };
  std::vector<Life> lives_;  // per tenant
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_SERVE_CONTEXT_LIVES_H_
