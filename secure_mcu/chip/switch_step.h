// SPDX-License-Identifier: Apache-2.0
//
// The eleven steps of a context switch, as an optional trace shows them. (pipeline.md, "Context switch".)
//   chip->TraceSwitches([](const SwitchStepEvent& event) { Print(event); });
#ifndef SIDEBAND_SECURE_MCU_CHIP_SWITCH_STEP_H_
#define SIDEBAND_SECURE_MCU_CHIP_SWITCH_STEP_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "absl/strings/string_view.h"
#include "secure_mcu/pipeline/memory_blocks.h"

namespace sideband::mcu {

// In this order.
enum class SwitchStep : uint8_t {
  kHalt = 1,      // the context
  kPause,         // unit-level counters' transfers and periodic triggers
  kTrigger,       // every collection unit takes what its unit-level counters hold and swaps its banks
  kFlushRequest,  // to every collection unit of the slice
  kEmit,          // remaining records, then an empty one, the acknowledgement
  kCommit,        // to the old blocks; the channel clears itself
  kRebind,        // the channel to the new blocks, and the MMU
  kPoll,          // until every acknowledgement is in
  kRestore,       // the new context
  kUnpause,       // triggers, then unit-level counters
  kRun,
};
inline constexpr uint8_t kSwitchSteps = 11;

// "halt", "pause", "trigger", "flush_request", "emit", "commit", "rebind", "poll", "restore", "unpause", "run".
absl::string_view SwitchStepName(SwitchStep step);

struct SwitchStepEvent {
  uint64_t switch_number = 0;  // from 1, of the chip
  uint8_t slice = 0;
  SwitchStep step = SwitchStep::kHalt;
  uint64_t cycle = 0;           // of the watched units, which stand still during a switch
  uint64_t pipeline_cycle = 0;  // at which the step was done
  std::optional<Binding> from, to;
  uint64_t records = 0;           // that have left the channel buffer since the switch began, of all slices
  uint32_t acknowledgements = 0;  // that have come in since then
};

using SwitchTracer = std::function<void(const SwitchStepEvent&)>;

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_SWITCH_STEP_H_
