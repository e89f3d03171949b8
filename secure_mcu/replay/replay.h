// SPDX-License-Identifier: Apache-2.0
//
// `sideband-mcu replay`: a waveform runs through the pipeline to its end.
//   SIDEBAND_ASSIGN_OR_RETURN(const ReplayResult result, Replay({"S.json", "T.vcd.gz", "C.csv"}, {}));
//   std::fputs(FormatJson(result).c_str(), stdout);
#ifndef SIDEBAND_SECURE_MCU_REPLAY_REPLAY_H_
#define SIDEBAND_SECURE_MCU_REPLAY_REPLAY_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "secure_mcu/chip/switch_step.h"

namespace sideband::mcu {

struct ReplayInputs {
  std::string signals;   // S.json
  std::string trace;     // T.vcd or T.vcd.gz
  std::string schedule;  // C.csv
};

struct ReplayBlock {
  std::string vm;                  // "vm0" for the hypervisor
  std::string context;             // empty for a VM's own block
  std::vector<uint64_t> counters;  // in the order of ReplayResult::events
  std::vector<std::string> flags;  // why counters are not exact
};

struct ReplayResult {
  uint64_t cycles = 0;
  std::vector<std::string> events;
  std::vector<ReplayBlock> blocks;  // the hypervisor's, then each VM's followed by its contexts'
};

// A step of a context switch, with "VM/CONTEXT" or "VM" of who leaves and who comes; empty for nobody.
struct ReplaySwitch {
  SwitchStepEvent step;
  std::string from, to;
};

// Each may be empty.
struct ReplayObservers {
  std::function<void(uint64_t)> progress;             // is told the cycles so far now and then
  std::function<void(const ReplaySwitch&)> switches;  // is told every step of every switch
};

// Memory does not grow with the trace. Errors are one line "FILE:LINE: what is wrong".
absl::StatusOr<ReplayResult> Replay(const ReplayInputs& inputs, const ReplayObservers& observers);

// One JSON object, counters as numbers, and a newline.
std::string FormatJson(const ReplayResult& result);
// One JSON object and a newline, of a line per step.
std::string FormatSwitch(const ReplaySwitch& event);
// A line per event, a column per block.
std::string FormatTable(const ReplayResult& result);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_REPLAY_REPLAY_H_
