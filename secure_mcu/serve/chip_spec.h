// SPDX-License-Identifier: Apache-2.0
//
// What a chip file says, value by value, as chip_file.h reads it. Lines are those of the file, for messages about what
// only shows when the parts are put together.
#ifndef SIDEBAND_SECURE_MCU_SERVE_CHIP_SPEC_H_
#define SIDEBAND_SECURE_MCU_SERVE_CHIP_SPEC_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "proto/base/uuid.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/firmware/power_model.h"
#include "sim/workload/phase.h"

namespace sideband::mcu {

struct PhaseFileSpec {
  sim::PhaseKind kind;
  absl::Duration time;
};

struct WorkloadFileSpec {
  uint64_t seed = 0;
  std::vector<PhaseFileSpec> phases;  // at least one; repeated for ever
  size_t line = 0;
};

struct ContextFileSpec {
  std::string name;
  uint8_t slice = 0;
  std::optional<WorkloadFileSpec> workload;  // none where a waveform drives the wires
  // How long it runs before it ends, none: for ever; and whether a new generation of it starts once the daemon has
  // acknowledged its final counts.
  std::optional<absl::Duration> lifetime;
  bool restart = true;
  uint32_t memory_mib = 0;  // that it holds while it lives
  size_t line = 0;
};

struct VmFileSpec {
  std::string name;
  Uuid uuid;
  bool confidential = false;
  std::vector<ContextFileSpec> contexts;
};

// What a unit counts: a wire, or a number that it drives on several, the least significant digit first.
struct UnitEventSpec {
  std::string name;
  uint32_t bits = 1;       // 1 to 32
  bool prescaled = false;  // a 32nd is counted instead of the whole
  bool masked = false;     // counted by the unit, not added by its collection unit
  size_t line = 0;
};

// So many instances of a unit, each with a unit-level counter.
struct UnitFileSpec {
  std::string name;
  uint32_t count = 1;
  std::vector<UnitEventSpec> events;
  UlcSpec ulc;                  // the shape of its unit-level counters, without inputs
  std::string ccu;              // the collection unit that it shares by name; empty: packed
  std::vector<uint8_t> slices;  // where it is; empty: everywhere
  size_t line = 0;
};

// What is particular to the collection units of one name, on every slice and of the device.
struct CcuFileSpec {
  std::string name;
  uint32_t threshold = kCcuThresholdDefault;
  size_t line = 0;
};

// A recorded accelerator in place of units and workloads, repeated for ever.
struct WaveformFileSpec {
  std::string trace;
  std::string signals;
  std::string schedule;
};

struct MemoryFileSpec {
  uint32_t reserved_mib = 0;  // that no context can have
};

struct EventEnergy {
  std::string event;
  double pj = 0;  // picojoules for one count
  size_t line = 0;
};

struct ChipFile {
  std::string path;
  std::string serial;
  std::string part_number;
  Uuid uuid;

  // Without units and events, which unit_plan.h or a waveform's signals give.
  PipelineConfig pipeline;
  size_t pipeline_line = 0;
  UlcSpec ulc;                                // the shape of a unit-level counter unless its unit says otherwise
  uint32_t threshold = kCcuThresholdDefault;  // and of a collection unit unless `ccus` does

  std::vector<UnitFileSpec> units;         // of each slice
  std::vector<UnitFileSpec> device_units;  // of the device as a whole
  std::vector<CcuFileSpec> ccus;
  std::optional<WorkloadFileSpec> device_workload;
  std::optional<WaveformFileSpec> waveform;

  std::vector<VmFileSpec> vms;
  absl::Duration quantum;  // how long a context stays on its slice
  absl::Duration gap;      // and how long nobody does after it
  std::optional<MemoryFileSpec> memory;

  PowerModel::Config power;           // without energies per event
  std::vector<EventEnergy> event_pj;  // by the event's name
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_SERVE_CHIP_SPEC_H_
