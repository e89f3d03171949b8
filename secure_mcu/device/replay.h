// SPDX-License-Identifier: Apache-2.0
//
// `sideband-mcu replay`: a waveform runs through the pipeline to its end.
//   SIDEBAND_ASSIGN_OR_RETURN(const ReplayResult result, Replay({"S.json", "T.vcd.gz", "C.csv"}, {}));
//   std::fputs(FormatJson(result).c_str(), stdout);
// With a file of a rotation, events that share counters are multiplexed, and estimates are beside their counts.
//
//   SIDEBAND_ASSIGN_OR_RETURN(const std::vector<Peek> peeks, LoadPeeks("P.csv"));
#ifndef SIDEBAND_SECURE_MCU_DEVICE_REPLAY_H_
#define SIDEBAND_SECURE_MCU_DEVICE_REPLAY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/mailbox/rotation_file.h"
#include "secure_mcu/chip/chip.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/chip/player.h"
#include "secure_mcu/device/event_plan.h"
#include "sim/waveform/schedule.h"
#include "sim/waveform/signal_map.h"
#include "sim/waveform/trace_reader.h"

namespace sideband::mcu {

// The plan of a replay with a rotation.
struct ReplayRotation {
  std::vector<std::vector<std::string>> sets;  // without the fixed
  std::vector<std::string> fixed;
  std::vector<std::string> derived;  // of the sets, those that relations determine
};

// The estimate of an event that is multiplexed.
struct ReplayEstimate {
  size_t event = 0;                  // into ReplayResult::events
  std::optional<uint64_t> estimate;  // none: its sets never ran
  std::optional<uint64_t> upper;     // none: a counter saturated
  std::optional<uint64_t> standard_error;
  uint64_t lower = 0;  // what was counted
  double coverage = 0;
};

// The numbers of a rotation in a block, beside its counters.
struct ReplayNumbers {
  uint64_t enabled = 0;           // cycles
  std::vector<uint64_t> running;  // of each set
  std::vector<ReplayEstimate> events;
  bool is_estimated() const;
};

// Both need a chip with a rotation.
ReplayRotation RotationOf(const Chip& chip, const std::vector<std::string>& names);
ReplayNumbers NumbersOf(const Chip& chip, BlockId block);

// The live count of an event in a block, of the cycles below `cycle`. `sideband-mcu replay --peek` reads such rows from
// a CSV file, for example
// - cycle,vm,context,event
// - 512,vm1,ctx0,issue_cycles
struct Peek {
  uint64_t cycle = 0;
  std::string vm;       // "vm0": the hypervisor's block
  std::string context;  // empty: the VM's own block
  std::string event;
  size_t line = 0;  // in the file, for messages
};

// The rows in the file's order, with ascending cycles. Every error is "FILE:LINE: description".
absl::StatusOr<std::vector<Peek>> LoadPeeks(const std::string& path);
// `path` is for messages only.
absl::StatusOr<std::vector<Peek>> ParsePeeks(const std::string& text, const std::string& path);

// Warnings about counts that are 0 or unexpectedly low although the files are valid.
// One line each: clocks without a rising edge, events that can only count 0, a trace that ends within a line, a
// schedule that begins after the trace's end (and how often the clock rises), or else its residencies that go beyond
// the end, and residencies with a $dumpoff (at most 16 of these, then the number of the others). `trace` must have been
// read to its end; `schedule_path` is for messages.
std::vector<std::string> ReplayWarnings(const std::string& schedule_path, const sim::SignalMap& map,
                                        const std::vector<sim::Residency>& schedule, const sim::TraceReader& trace);

// Appends a line for each event with unattributed requests. `counters` are those of the device, by event.
void WarnOfUnattributed(const std::string& trace_path, const std::vector<PlannedEvent>& events,
                        const std::vector<uint64_t>& counters, std::vector<std::string>& warnings);

// The VMs and contexts of a schedule, with a memory block each and ids in the order of first appearance, and the slices
// that the hypervisor has for itself.
// A VM with its contexts in the order of first appearance.
struct ScheduledVm {
  std::string name;
  std::vector<std::string> contexts;
};
// Without the hypervisor.
std::vector<ScheduledVm> ScheduledVms(const std::vector<sim::Residency>& schedule);

// Names the slice in each row of the hypervisor: its context becomes "slice3".
void NameHosts(std::vector<sim::Residency>& schedule);
// Creates the host blocks of the chip if a schedule with named hosts has any. Returns the hypervisor on each slice of
// its rows, in the slices' order.
std::vector<Tenant> CreateHosts(const std::vector<sim::Residency>& schedule, Chip& chip);

// Creates the blocks (VM ids from 1, context ids from 0). Returns all possible residents: each VM without a context,
// followed by its contexts.
std::vector<Tenant> CreateBlocks(const std::vector<ScheduledVm>& vms, MemoryBlocks& memory);

// The rotation of a replay, from its file: what a chip file says of a chip.
// INVALID_ARGUMENT "FILE:LINE: …" also for a file without `counters`.
absl::StatusOr<RotationFile> LoadReplayRotation(const std::string& path);

// Whether the configuration has a unit whose events are multiplexed.
bool HasTurns(const PipelineConfig& config);

// Adds to a configuration that has such a unit the relations and the rotation, whose seed is `seed`, else the file's,
// else 0, and makes the periods of these units as short as the slots need. Fixed events of units with a counter for
// each of theirs are fixed anyway. INVALID_ARGUMENT "FILE:LINE: …" for unknown events, and as RelationRules::Check,
// CheckRotation and PlanCounters.
absl::Status AddRotation(const RotationFile& file, std::optional<uint64_t> seed, const std::vector<std::string>& names,
                         PipelineConfig& config);

// Plays a chip's timeline and reads live counts at the cycles of a list.
class Peeker {
 public:
  // "PATH:LINE: description" where a row names a VM, context or event that the replay does not have.
  static absl::StatusOr<Peeker> Create(const std::vector<Peek>& peeks, const std::string& path,
                                       const std::vector<std::string>& events, const std::vector<Tenant>& tenants);

  // Plays to `cycle`, and reads the rows up to and including it on the way. At the cycle of a switch the switch is
  // first.
  void PlayTo(uint64_t cycle, const Chip& chip, Player& player);
  // Reads the rows of cycle 0 of a trace without a cycle, which has no wires: they are 0.
  void ReadNothing();
  const std::vector<uint64_t>& counts() const { return counts_; }

 private:
  struct Reading {
    uint64_t cycle;
    BlockId block;
    uint16_t event;
  };

  explicit Peeker(std::vector<Reading> readings) : readings_(std::move(readings)) {}

  std::vector<Reading> readings_;
  std::vector<uint64_t> counts_;  // of the first readings
};

struct ReplayInputs {
  std::string signals;   // S.json
  std::string trace;     // T.vcd, also as .gz or .zst, or T.fst
  std::string schedule;  // C.csv
  std::string peeks;     // P.csv; empty: no live counts are read
  std::string exits;     // E.csv; empty: the hypervisor does not run while somebody is resident
  // R.yaml (proto/mailbox/rotation_file.md); empty: every event has a counter. The run is a function of the inputs and
  // the seed, which is the file's unless it is here, and 0 if it is in neither.
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
  std::optional<ReplayRotation> rotation;  // none: nothing is multiplexed
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

#endif  // SIDEBAND_SECURE_MCU_DEVICE_REPLAY_H_
