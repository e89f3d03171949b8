// SPDX-License-Identifier: Apache-2.0
//
// The units of a chip file's device, with equal neighbours folded into one group, their cost in flip-flops and in
// transferred bits, and the cost of a flat design instead. The formulas are in describe.md.
//   SIDEBAND_ASSIGN_OR_RETURN(const ChipFile file, LoadChipFile("chip.yaml"));
//   SIDEBAND_ASSIGN_OR_RETURN(const Description description, Describe(file));
//   std::fputs(FormatTree(description).c_str(), stdout);
#ifndef SIDEBAND_SECURE_MCU_DESCRIBE_H_
#define SIDEBAND_SECURE_MCU_DESCRIBE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/mailbox/snapshot.h"
#include "secure_mcu/chip/chip_clocks.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/pipeline/record.h"

namespace sideband::mcu {

// Equal siblings, by the names of the first and the last. Names are ignored when the groups that contain siblings are
// compared.
struct Siblings {
  std::string first, last;
  size_t count = 1;

  bool operator==(const Siblings& other) const { return count == other.count; }
};

struct UlcGroup {
  Siblings names;
  size_t counters = 0;  // of each sibling
  size_t sources = 0;   // more than the counters if the unit is switched
  size_t prescaled = 0;
  size_t masked = 0;
  uint32_t counter_bits = 0;
  uint32_t period = 0;
  uint32_t lanes = 0;
  uint32_t serial_cycles = 0;  // of each period, while the serialiser is busy
  bool operator==(const UlcGroup&) const = default;
};

struct CcuGroup {
  Siblings names;
  size_t counters = 0;     // of each of the two banks
  uint32_t threshold = 0;  // 0: none
  std::vector<UlcGroup> ulcs;
  bool operator==(const CcuGroup&) const = default;
};

// A slice, or the units of the whole device.
struct SliceGroup {
  Siblings names;
  std::vector<CcuGroup> ccus;
  bool operator==(const SliceGroup&) const = default;
};

struct ReductionGroup {
  std::string name;
  size_t count = 1;
  uint64_t commit_period = 0;  // cycles; 0: commits only at a flush
};

// Bits of a record in a channel buffer: eight counts of 28 bits, and the fields of record.h at their minimum widths.
inline constexpr uint64_t kCcuCounterBits = 28;
inline constexpr uint64_t kRecordBits = kRecordCounters * kCcuCounterBits + 16 /*ccu*/ + 8 /*channel*/ +
                                        1 /*flush_ack*/ + 32 /*trigger_id*/ + 16 /*flags*/ + 16 /*first*/ + 4 /*size*/;
inline constexpr uint64_t kSelectBits = 8;  // more, on a chip with selections or a rotation
inline constexpr uint64_t kCounterBits = 64;

// Flip-flops.
struct Registers {
  uint64_t ulc_counters = 0;
  uint64_t prescalers = 0;
  uint64_t serialisers = 0;
  uint64_t ccu_banks = 0;
  uint64_t buffer = 0;
  uint64_t reduction_channels = 0;

  uint64_t total() const { return ulc_counters + prescalers + serialisers + ccu_banks + buffer + reduction_channels; }
};

// Flip-flops of the register read path, beside those of the pipeline.
struct ReadPathRegisters {
  uint64_t clients = 0;       // registers and FIFOs
  uint64_t interconnect = 0;  // pipeline stages and arbiters
  uint64_t managers = 0;      // latches of the values that are asked for

  uint64_t total() const { return clients + interconnect + managers; }
};

// Flip-flops of the gates before the counters, beside those of the pipeline; none without gate groups.
struct GateRegisters {
  uint64_t values = 0;  // GCE and CCE of each slice
  uint64_t groups = 0;  // identifier, valid, in_guest and in_host of each
  uint64_t hosts = 0;   // HCB of each slice

  uint64_t total() const { return values + groups + hosts; }
};

// Flip-flops of the select registers, beside those of the pipeline; none without selections and rotation.
struct SelectRegisters {
  uint64_t bits = 0;       // of all
  uint64_t registers = 0;  // one per collection unit and kind of switched units

  bool operator==(const SelectRegisters&) const = default;
};

// An event that is not counted, and what it is: "loads + stores".
struct DerivedName {
  std::string event;
  std::string formula;
};

// Equal units whose events are multiplexed, by the name of the first.
struct TurningUnit {
  std::string name;
  size_t counters = 0;
  size_t events = 0;                           // those that are not masked
  std::vector<std::string> fixed;              // in every set, and not derived
  std::vector<std::vector<std::string>> sets;  // the others of each set, with those that are derived
};

// How events are multiplexed; no sets: they are not.
struct RotationDescription {
  std::string profile;
  size_t events = 0;  // of units with more events than counters
  size_t sets = 0;
  size_t plans = 0;            // the own of contexts, and of the device's units
  size_t passes = 0;           // generations of a context in which every set had turns
  uint32_t sets_per_pass = 0;  // 0: all
  uint64_t stable_slot = 0;    // cycles; without instructions as in fluctuating periods
  uint64_t fluctuating_slot = 0;
  std::vector<DerivedName> derived;
  std::vector<TurningUnit> units;
};

// Bits per second with all slices counting all the time, rounded.
struct Traffic {
  uint64_t ulc_to_ccu = 0;     // frames on short wires
  uint64_t ccu_to_buffer = 0;  // records of periodic triggers
  uint64_t switches = 0;       // records and commits of context switches
  uint64_t rc_to_memory = 0;   // atomic adds of periodic commits

  uint64_t beyond_ccu() const { return ccu_to_buffer + switches + rc_to_memory; }
};

// A design with a 64-bit counter for every counted wire. Software reads all counters as often as the chip triggers, and
// saves and restores those of a slice at each context switch.
struct FlatDesign {
  uint64_t wires = 0;
  uint64_t registers = 0;
  uint64_t polls = 0;     // bits a second
  uint64_t switches = 0;  // bits a second

  uint64_t moved() const { return polls + switches; }
};

struct Description {
  std::string path;
  std::string warning;  // on a waveform, as Wiring::warning
  std::string serial;
  uint64_t clock_hz = 0;
  size_t events = 0;
  size_t vms = 0;
  size_t contexts = 0;
  uint64_t trigger_period = 0;
  uint32_t buffer_depth = 0;
  size_t blocks = 0;         // memory blocks
  uint64_t block_bytes = 0;  // of each block
  uint64_t page_table_bytes = 0;
  uint64_t record_bits = kRecordBits;

  std::vector<SliceGroup> slices;
  std::vector<ReductionGroup> reduction_channels;
  Registers registers;
  ReadPathRegisters read_path;
  GateRegisters gates;
  SelectRegisters selects;
  RotationDescription rotation;
  std::vector<DomainInfo> domains;  // where they have units; what is declared of them
  Traffic traffic;
  FlatDesign flat;
  mailbox::SnapshotCost snapshot;  // of the longest snapshot

  // Flip-flops of a flat design that has its counters once for each VM.
  uint64_t replicated() const { return vms * flat.registers; }
};

// The storage of the register read path (docs/design/registers.md) as the RTL in tests/lab/rtl has it: hpc_read_path.sv
// with a client for each slice and for the firmware, and for each 64 events a manager of the context and of the VM of
// each slice, and of the device. tests/lab/rtl/synthesis_test.py compares these numbers with a synthesis of that RTL.
// At least one slice; 0 without events.
ReadPathRegisters CountReadPath(uint64_t slices, uint64_t events);

// The counter sets of a chip's rotation, by the names of its events: of a valid configuration whose event i has the
// name names[i]. Without sets if it has no rotation. Errors are those of PlanCounters.
absl::StatusOr<RotationDescription> DescribeRotation(const PipelineConfig& config,
                                                     const std::vector<std::string>& names);

// The channels of a pipeline: one per slice, the hypervisor's, and the out-of-band channel if its period is not 0.
size_t ReductionChannels(const PipelineConfig& config);
// A unit-level counter's counters, and those of them that have an accumulator.
size_t UlcCounters(const UlcSpec& ulc);
size_t UlcPrescaled(const UlcSpec& ulc);

// The storage and the traffic of a pipeline, and of a flat design in its place. A configuration must be valid
// (Validate, pipeline_config.h).
Registers CountRegisters(const PipelineConfig& config);
GateRegisters CountGates(const PipelineConfig& config);
SelectRegisters CountSelects(const PipelineConfig& config);
uint64_t RecordBits(const PipelineConfig& config);
// `switches` has the context switches per second of each slice.
Traffic CountTraffic(const PipelineConfig& config, std::span<const double> switches);
FlatDesign CountFlat(const PipelineConfig& config, std::span<const double> switches);

// Errors are those of the chip file's parts, and of the waveform's files, which are read for their wires.
absl::StatusOr<Description> Describe(const ChipFile& file);

// The bus clocks for which the time of a snapshot read is shown.
inline constexpr uint64_t kBusClocksHz[] = {100'000, 400'000};

// A tree for terminals and JSON for programs have the same numbers. Lines in UTF-8, each ending in a line break.
std::string FormatTree(const Description& description);
// One object and a line break.
std::string FormatJson(const Description& description);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_DESCRIBE_H_
