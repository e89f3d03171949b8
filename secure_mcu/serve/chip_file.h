// SPDX-License-Identifier: Apache-2.0
//
// The chip file of `sideband-mcu serve`: what the emulated device is made of, who shares it and what they do. Format
// and example: README.md.
//   SIDEBAND_ASSIGN_OR_RETURN(const ChipFile file, LoadChipFile("chip.yaml"));
#ifndef SIDEBAND_SECURE_MCU_SERVE_CHIP_FILE_H_
#define SIDEBAND_SECURE_MCU_SERVE_CHIP_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
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
};

struct ContextFileSpec {
  std::string name;
  uint8_t slice = 0;
  std::optional<WorkloadFileSpec> workload;  // none where a waveform drives the wires
};

struct VmFileSpec {
  std::string name;
  Uuid uuid;
  bool confidential = false;
  std::vector<ContextFileSpec> contexts;
};

// So many instances of a unit, with one wire for each of its events.
struct UnitFileSpec {
  std::string name;
  uint32_t count = 1;
  std::vector<std::string> events;
};

// A recorded accelerator in place of units and workloads, repeated for ever.
struct WaveformFileSpec {
  std::string trace;
  std::string signals;
  std::string schedule;
};

struct ChipFile {
  std::string path;
  std::string serial;
  std::string part_number;
  Uuid uuid;

  // Without units and events, which Assemble (live_device.h) adds.
  PipelineConfig pipeline;
  UlcSpec ulc;  // the shape of every unit-level counter

  std::vector<UnitFileSpec> units;         // of each slice
  std::vector<UnitFileSpec> device_units;  // of the device as a whole
  std::optional<WorkloadFileSpec> device_workload;
  std::optional<WaveformFileSpec> waveform;

  std::vector<VmFileSpec> vms;
  absl::Duration quantum;  // how long a context stays on its slice
  absl::Duration gap;      // and how long nobody does after it

  PowerModel::Config power;                              // without energies per event
  std::vector<std::pair<std::string, double>> event_pj;  // by the event's name
};

// Every error is one line "FILE:LINE: what is wrong". Relative paths in the file are relative to its folder.
absl::StatusOr<ChipFile> LoadChipFile(const std::string& path);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_SERVE_CHIP_FILE_H_
