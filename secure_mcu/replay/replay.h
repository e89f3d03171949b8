// SPDX-License-Identifier: Apache-2.0
//
// `sideband-mcu replay`: a waveform runs through the pipeline to its end.
//   SIDEBAND_ASSIGN_OR_RETURN(const ReplayResult result, Replay({"S.json", "T.vcd.gz", "C.csv"}, {}));
//   std::fputs(FormatJson(result).c_str(), stdout);
// With a file of a rotation, events that share counters take turns, and estimates are beside their counts.
#ifndef SIDEBAND_SECURE_MCU_REPLAY_REPLAY_H_
#define SIDEBAND_SECURE_MCU_REPLAY_REPLAY_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "secure_mcu/chip/switch_step.h"
#include "secure_mcu/replay/peek_list.h"
#include "secure_mcu/replay/rotation_result.h"

namespace sideband::mcu {

struct ReplayInputs {
  std::string signals;   // S.json
  std::string trace;     // T.vcd, also as .gz or .zst, or T.fst
  std::string schedule;  // C.csv
  std::string peeks;     // P.csv; empty: no live counts are read
  std::string exits;     // E.csv; empty: the hypervisor does not run while somebody is resident
  // R.yaml (proto/rotation_file); empty: every event has a counter. The run is a function of the inputs and the seed,
  // which is the file's unless it is here, and 0 if it is in neither.
  std::string rotation;
  std::optional<uint64_t> seed;
};

struct ReplayBlock {
  std::string vm;                  // "vm0": the hypervisor
  std::string context;             // empty: the VM's own block; of "vm0" the slice of a host block, "slice3"
  std::vector<uint64_t> counters;  // in the order of ReplayResult::events
  std::vector<std::string> flags;  // reasons why counters are not exact
  std::optional<ReplayNumbers> rotation;
};

struct ReplayPeek {
  Peek peek;
  uint64_t count = 0;
};

struct ReplayResult {
  uint64_t cycles = 0;
  std::vector<std::string> events;
  std::vector<ReplayBlock> blocks;  // the hypervisor's, its host blocks, then each VM's followed by its contexts'
  // The live counts that were asked for, without those of cycles beyond the trace's end.
  std::vector<ReplayPeek> peeks;
  // Reasons, one line each, why counts may be 0 or unexpectedly low although the files are valid.
  std::vector<std::string> warnings;
  std::optional<ReplayRotation> rotation;  // none: nothing takes turns
};

// A step of a context switch. `from` and `to` are the previous and the next resident, "VM/CONTEXT" or "VM"; empty: no
// resident.
struct ReplaySwitch {
  SwitchStepEvent step;
  std::string from, to;
};

// Each may be empty.
struct ReplayObservers {
  std::function<void(uint64_t)> progress;             // called now and then with the cycles so far
  std::function<void(const ReplaySwitch&)> switches;  // called at every step of every switch
};

// Memory use is independent of the trace's length. Errors are one line "FILE:LINE: description".
absl::StatusOr<ReplayResult> Replay(const ReplayInputs& inputs, const ReplayObservers& observers);

// One JSON object, counters as numbers, and a newline.
std::string FormatJson(const ReplayResult& result);
// One JSON object on one line per step, with a newline.
std::string FormatSwitch(const ReplaySwitch& event);
// One row per event, one column per block; an estimate is "~N", "-" if there is none. With `bounds` each block of a
// rotation has a table of its own in addition, of its estimates with their errors.
std::string FormatTable(const ReplayResult& result, bool bounds = false);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_REPLAY_REPLAY_H_
