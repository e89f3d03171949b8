// SPDX-License-Identifier: Apache-2.0
//
// The eleven steps of a context switch, as reported to an optional tracer. (pipeline.md, "Context switch".)
//   chip->TraceSwitches([](const SwitchStepEvent& event) { Print(event); });
#ifndef SIDEBAND_SECURE_MCU_CHIP_SWITCH_STEP_H_
#define SIDEBAND_SECURE_MCU_CHIP_SWITCH_STEP_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "absl/strings/string_view.h"
#include "secure_mcu/pipeline/memory_blocks.h"

namespace sideband::mcu {

// In order of execution.
enum class SwitchStep : uint8_t {
  kHalt = 1,      // the context
  kPause,         // unit-level counters' transfers and periodic triggers
  kTrigger,       // collection units take the values held by their unit-level counters and swap their banks
  kFlushRequest,  // to every collection unit of the slice
  kEmit,          // remaining records, then an empty record as the acknowledgement
  kCommit,        // to the old blocks; clears the channel
  kRebind,        // channel and MMU, to the new blocks
  kPoll,          // until every acknowledgement has been received
  kRestore,       // the new context
  kUnpause,       // triggers, then unit-level counters
  kRun,
};
inline constexpr uint8_t kSwitchSteps = 11;

// "halt", "pause", "trigger", "flush_request", "emit", "commit", "rebind", "poll", "restore", "unpause", "run".
absl::string_view SwitchStepName(SwitchStep step);

struct SwitchStepEvent {
  uint64_t switch_number = 0;  // from 1, per chip
  uint8_t slice = 0;
  SwitchStep step = SwitchStep::kHalt;
  uint64_t cycle = 0;           // of the watched units, which are halted during a switch
  uint64_t pipeline_cycle = 0;  // at the end of the step
  std::optional<Binding> from, to;
  uint64_t records = 0;           // of all slices, that have left the channel buffer since the switch began
  uint32_t acknowledgements = 0;  // received since the switch began
};

using SwitchTracer = std::function<void(const SwitchStepEvent&)>;

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_SWITCH_STEP_H_
