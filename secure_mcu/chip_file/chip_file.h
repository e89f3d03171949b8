// SPDX-License-Identifier: Apache-2.0
//
// The chip file of `sideband-mcu serve`, value by value: the units of the emulated device, its VMs and contexts, and
// their workloads. Each `line` is a line of the file, for errors that are only detected when the parts are combined.
// Format and example: README.md.
//   SIDEBAND_ASSIGN_OR_RETURN(const ChipFile file, LoadChipFile("chip.yaml"));
#ifndef SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_H_
#define SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/base/uuid.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/rotation_file.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/firmware/board_state.h"
#include "secure_mcu/firmware/board_unit.h"
#include "secure_mcu/firmware/complement.h"
#include "sim/riscv/shape.h"
#include "sim/workload/workload.h"

namespace sideband::mcu {

struct BurstTimes {
  absl::Duration low, high;  // both inclusive
};

struct BurstFileSpec {
  BurstTimes on, off;
};

struct PhaseFileSpec {
  sim::PhaseKind kind;
  absl::Duration time;
  std::optional<BurstFileSpec> bursts;  // absent: steady
};

struct WorkloadFileSpec {
  uint64_t seed = 0;
  std::vector<PhaseFileSpec> phases;  // at least one; repeated forever
  uint32_t vary_per_mille = 0;        // of each phase's time, turn by turn
  size_t line = 0;
};

struct ContextFileSpec {
  std::string name;
  uint8_t slice = 0;
  std::optional<WorkloadFileSpec> workload;  // absent if a waveform or a program drives the wires
  // Time until the context ends; absent: it never ends. With `restart`, a new generation starts once the daemon has
  // acknowledged the final counts.
  std::optional<absl::Duration> lifetime;
  bool restart = true;
  uint32_t memory_mib = 0;  // held while the context is alive
  size_t line = 0;
};

struct VmFileSpec {
  std::string name;
  Uuid uuid;
  bool confidential = false;
  VmControl counting;  // initially: its control block; private only if ChipFile::private_vms
  std::vector<ContextFileSpec> contexts;
};

// An event of a unit: one wire, or a number that the unit drives on several wires, least significant digit first.
struct UnitEventSpec {
  std::string name;
  // Another event of the unit before this one, whose wires are counted once more; empty: it has wires of its own.
  std::string of;
  uint32_t bits = 1;       // 1 to 32
  bool prescaled = false;  // a 32nd of the sum is counted instead of the number
  bool masked = false;     // counted by the unit, but not added by its collection unit
  size_t line = 0;
};

// `count` instances of a unit, each with a unit-level counter.
struct UnitFileSpec {
  std::string name;
  uint32_t count = 1;
  std::vector<UnitEventSpec> events;
  std::vector<NamedEvent> fixed;  // of them, those that are counted in every set of a rotation
  UlcSpec ulc;                    // the shape of its unit-level counters, without inputs
  std::string ccu;                // the named collection unit that it shares; empty: packed
  std::vector<uint8_t> slices;    // the slices that have it, or that share it; empty: all
  size_t line = 0;
};

// Settings of the collection units of one name, on every slice and of the device.
struct CcuFileSpec {
  std::string name;
  uint32_t threshold = kCcuThresholdDefault;
  size_t line = 0;
};

// A recorded accelerator instead of units and workloads, repeated forever.
struct WaveformFileSpec {
  std::string trace;
  std::string signals;
  std::string schedule;
};

// A program on a slice's RISC-V machine instead of units and workloads. The machine's parts are the slice's units.
struct ProgramFileSpec {
  std::string hex;            // the path of its words (sim/riscv/program.h)
  bool is_user = true;        // of every core; else a program at machine level
  uint64_t argument = 0;      // register a0 at the start
  riscv::MachineShape shape;  // valid
  size_t line = 0;
};

// Events of slices with one enable bit. The state of the group is in the pipeline's configuration.
struct GateGroupFileSpec {
  std::string name;
  std::vector<std::string> events;  // at least one
  size_t line = 0;
};

// Events of units with more events than counters, which count while a VM of the selection is resident.
struct SelectionFileSpec {
  std::string name;
  std::vector<std::string> events;
  size_t line = 0;
};

// The hypervisor's work on the slices: from each multiple of `exit_every` on, for `exit_time`; and where slices have
// host blocks, in all time without a resident.
struct HostFileSpec {
  absl::Duration exit_every;
  absl::Duration exit_time;  // shorter
  WorkloadFileSpec workload;
};

// The wire that the chip shares with others.
struct TriggerLineFileSpec {
  std::string name;
  uint64_t wire_min_ns = 0, wire_max_ns = 0;  // from the chip that sends a pulse to this one
};

// Where the device seals its confidential VMs: the file with its identity and with the guests that it trusts.
struct SealingFileRef {
  std::string path;
  size_t line = 0;
  bool operator==(const SealingFileRef&) const = default;
};

struct MemoryFileSpec {
  uint32_t total_mib = 0;
  uint32_t reserved_mib = 0;  // unavailable to contexts
};

struct EventEnergy {
  std::string event;
  double pj = 0;  // picojoules per count
  size_t line = 0;
};

struct ChipFile {
  std::string path;
  std::string serial;
  std::string part_number;
  Uuid uuid;

  // The version of the snapshot extension that the device serves; none: base commands only.
  std::optional<mailbox::ExtensionVersion> extension;
  // Whether VMs can be private, and confidential ones are unless they say otherwise; only with version 2.
  bool private_vms = false;
  std::optional<SealingFileRef> sealing;  // only with private VMs; absent: the device does not seal

  // Without units and events, which come from unit_plan.h or from the signal map of a waveform.
  PipelineConfig pipeline;
  size_t pipeline_line = 0;
  UlcSpec ulc;                                // default shape of a unit-level counter
  uint32_t threshold = kCcuThresholdDefault;  // default threshold of a collection unit

  std::optional<TriggerLineFileSpec> trigger_line;

  std::vector<UnitFileSpec> units;  // of each slice
  // Shared by slices: each instance has a unit-level counter per slice, which counts the slice's requests alone.
  std::vector<UnitFileSpec> shared_units;
  std::vector<UnitFileSpec> device_units;  // of the device as a whole
  std::vector<CcuFileSpec> ccus;
  std::optional<WorkloadFileSpec> device_workload;
  std::optional<WaveformFileSpec> waveform;
  std::vector<ProgramFileSpec> programs;  // one per slice, or none

  std::vector<GateGroupFileSpec> gate_groups;  // in the order of their numbers
  std::vector<SelectionFileSpec> selections;   // in the order of their numbers; as sets of events in `pipeline`
  std::vector<NamedRelation> relations;        // by numbers in `pipeline`
  std::optional<RotationFile> rotation;        // as a RotationSpec in `pipeline`
  size_t rotation_line = 0;
  size_t domains_line = 0;  // of pipeline.domains
  std::optional<HostFileSpec> host;
  // Whether the slices have host blocks, which version 1 cannot report (virtual-counters.md, "Mechanism", 5).
  bool has_host_blocks() const { return host && extension == mailbox::ExtensionVersion::kTwo; }

  std::vector<VmFileSpec> vms;
  absl::Duration quantum;  // duration of a residency
  absl::Duration gap;      // time without a resident between residencies
  std::optional<MemoryFileSpec> memory;

  PowerModel::Config power;           // without energies per event
  std::vector<EventEnergy> event_pj;  // by the event's name
  ComplementPolicy complement;
  BoardSpec board;
  size_t board_line = 0;
};

// The highest rate, per second, of a periodic trigger, of a commit and of readouts at a threshold, which the emulator
// must process in real time.
inline constexpr uint64_t kPerSecondMax = 100'000;

// The shortest period within kPerSecondMax.
constexpr uint64_t CyclesBetweenMin(uint64_t clock_hz) { return (clock_hz + kPerSecondMax - 1) / kPerSecondMax; }

// INVALID_ARGUMENT if a counter of the collection unit could reach its threshold more often than kPerSecondMax.
absl::Status CheckThresholdPace(const CcuSpec& ccu, uint64_t clock_hz);

// Every error is one line "FILE:LINE: description". Relative paths in the file are resolved against its folder. The
// units have been planned once (unit_plan.h), so a pipeline built from the result is valid.
absl::StatusOr<ChipFile> LoadChipFile(const std::string& path);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_H_
