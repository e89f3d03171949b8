// SPDX-License-Identifier: Apache-2.0
//
// The benchmarks that bench.cc runs. README.md explains their rows.
//   SIDEBAND_ASSIGN_OR_RETURN(const Rows rows, MeasureScrapeLoad(folder));
#ifndef SIDEBAND_TESTS_LAB_BENCH_BENCHMARKS_H_
#define SIDEBAND_TESTS_LAB_BENCH_BENCHMARKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/lab/bench/measurement.h"

namespace sideband::bench {

// The time of the firmware for SMBPBI's base commands on an emulated device.
// The slowest of all commands, in microseconds of processor time: on a device that is up to date, and on one that first
// has to count 10 ms, the maximum lag of `sideband-mcu serve`. INTERNAL if a command is not answered.
absl::StatusOr<Rows> MeasureBaseCommands(const std::string& chip_file);

// The cost of clocks: a packet into the fit, beside a running least-squares update; a query; bytes of state.
// A clock of 1.3 GHz that is steady within 50 ppm, triggered 1000 times a second, with wires of 0 to 50 ns.
absl::StatusOr<Rows> MeasureClockCost();

// The cost of clocks on a live device: eight domains with triggers at 1 kHz beside the same device without (clocks.md,
// section 10).
// Its speed, its latches, the bytes of its snapshots, and of a timeline. Writes chip files into the folder `scratch`.
absl::StatusOr<Rows> MeasureClockedDevice(const std::string& scratch);

struct ExpositionCost {
  Rows rows;
  std::vector<Curve> curves;  // milliseconds over series: text, OpenMetrics, its compression, prometheus-cpp
};

// The cost of rendering a scrape, beside prometheus-cpp's Collect and TextSerializer for the same series and labels,
// and beside a copy of the same bytes.
ExpositionCost MeasureExpositionCost();

// The cost of the daemon's history: bytes for each counter of each snapshot, and time beside a copy of the counters.
// INTERNAL if the history does not contain the appended snapshots.
absl::StatusOr<Rows> MeasureHistoryCost();

// The cost of five counters of the host by perf_event_open(2), as one group that is read before and after: a program on
// the CPU would take them in place of the registers. They count this thread on the CPU and nothing of a device.
// With the processor's counters, or with the kernel's if there are none, as in most virtual machines; no rows if this
// process may use neither.
absl::StatusOr<Rows> MeasureHostCounters();

// The cost of reading counters by registers: an access to the registers of a live device in this process, and five
// counters of a guest before and after, through a guest port of a served device.
// `chip` must have a VM "vm1" whose context "train" on slice 0 may read by registers. Sockets are made in the folder
// `scratch`. INTERNAL if a count decreases.
absl::StatusOr<Rows> MeasureHpcAccess(const std::string& chip, const std::string& scratch);

// Reads of the L2 and misses of the L1s, of each kernel of sim/riscv (registers.md, "Experiments").
// Of so many instructions, all cores together, on 1, 2 and 4 cores. INTERNAL if the L2 does not read what the L1s miss,
// or is not written what they write back.
absl::StatusOr<Rows> MeasureKernelMisses(uint64_t instructions);

struct LinearCost {
  Rows rows;  // with the fitted exponents
  // Milliseconds over words of 64 cycles: growing numbers of signals, and of cycles.
  std::vector<Curve> curves;
};

// The cost of a replay after parsing: packing the bits and counting them through the whole pipeline, for growing
// numbers of signals and of cycles.
absl::StatusOr<LinearCost> MeasureLinearCost();

struct LiveChip {
  Rows rows;
  std::vector<Curve> curves;  // for each way of gating, the time over the rate of exits, of the time without exits
};

// The speed of a live chip of 138,240 counters, relative to real time, on one core; and the cost of gates and exits.
// INTERNAL if a count is wrong.
absl::StatusOr<LiveChip> MeasureLiveChip();

// The cost and the losses of counting many events on two multiplexed counters, beside reading them by registers
// (registers.md, "Experiments": software that switches the events of a core with two programmable counters).
// INTERNAL if a count by registers is not the machine's tally.
absl::StatusOr<Rows> MeasureMultiplexedCounters();

// The speed at which sim/riscv runs programs: without caches, with caches, and with caches and wires; beside qemu's
// user mode, where it is installed.
// INTERNAL if qemu's checksum differs, wires do not add up to tallies, or the L2 does not read what the L1s miss. Needs
// a folder for files of qemu.
absl::StatusOr<Rows> MeasureProgramSpeed(const std::string& scratch);

// The speed at which unit-level counters count packed bits, relative to the processor's maximum: a loop that only
// counts the same bytes, contiguous and resident in L2.
// INTERNAL if a count is wrong.
absl::StatusOr<Rows> MeasureReplayCore();

// The cost of sealing: processor time of records and exchanges, and a device's bus.
// Records: the speed of SealRecord relative to OpenSSL's EVP interface alone, which is initialised for each record
// of the same size; and contexts per second on one core, with 32 events, from blocks to records. An exchange: processor
// time of the sealer, with evidence of SEV-SNP and its chain. The bus: the bytes of snapshots of the chip's device if
// it seals, relative to those if it does not. Files of keys are written into `scratch`.
absl::StatusOr<Rows> MeasureSealingCost(const std::string& chip_file, const std::string& scratch);

// The host's cost of a transaction beyond the wire: the daemon's session on a bus that answers at once.
absl::StatusOr<Rows> MeasureSessionOverhead();

// Scrapes over real connections: one beside prometheus-cpp's Exposer, and many at once.
// Writes temporary certificates to `folder`, which must exist. Takes about half a minute.
absl::StatusOr<Rows> MeasureScrapeLoad(const std::string& folder);

// The cost of a board's base commands on the bus, in bit times: the daemon's reader reads an emulated device over a bus
// of 100 kHz, whose time is virtual. These numbers do not depend on the machine. The board of chip-board.yaml, without
// the extension, at an interval of a second.
struct BoardPass {
  uint64_t bit_times = 0;  // to read each group of the interval's class once
  uint64_t commands = 0;
  uint64_t metric_bit_times = 0;  // of them, of the group `metrics`
  double oldest_s = 0;            // the greatest age of a group's sample in a minute, with the default share of the bus
};
absl::StatusOr<BoardPass> MeasureBoardPass(const std::string& chip_file);

// The waits of a device that takes snapshots once a second.
struct SnapshotWait {
  uint64_t bit_times_alone = 0;   // of the longest snapshot, from its instant to its end
  uint64_t bit_times_beside = 0;  // the same, while the board is read in between
  uint64_t longest_wait = 0;      // from a snapshot's instant to its first transaction, beside the board
  uint64_t longest_command = 0;   // of the board
  uint64_t commands = 0;          // of the board in that time
};
absl::StatusOr<SnapshotWait> MeasureSnapshotWait(const std::string& chip_file);

// Both measurements, with the files in the folder `examples`.
absl::StatusOr<Rows> MeasureBoardCost(const std::string& examples);

// The counters of a processor that a hypervisor saves and loads at a transition, each 64 bits wide: programmable ones
// and fixed ones, the selectors of the former, and two controls.
inline constexpr uint64_t kProcessorPmuRegisters = 8 + 4 + 8 + 2;

// The cost of a device's gates, and the bits that they move, beside a flat design and a processor's counters that a
// hypervisor swaps (docs/experiments/virtual_counters.md). The results do not depend on the machine.
struct GateCost {
  // Bits that a slice saves and loads at an exit or an entry.
  uint64_t flat_bits = 0;  // a counter for each wire of the slice
  uint64_t pmu_bits = 0;
  uint64_t gate_bits = 0;
  // Flip-flops of the device, with the largest number of groups.
  uint64_t replicated_registers = 0;
  uint64_t pipeline_registers = 0;
  uint64_t gate_registers = 0;
  // Cycles, of a run with exits and switches.
  double transition_cycles = 0;  // an exit and an entry
  uint64_t switch_cycles = 0;    // the median context switch
  uint64_t exits = 0, switches = 0;

  double registers_ratio() const {
    return static_cast<double>(gate_registers) / static_cast<double>(pipeline_registers);
  }
  double cycles_ratio() const { return static_cast<double>(switch_cycles) / transition_cycles; }
};

// Errors are those of the chip file.
absl::StatusOr<GateCost> MeasureGateCost(const std::string& chip_file);

Rows RowsOf(const GateCost& cost);

// The cost of multiplexing, beside the same device on which every event has a counter.
struct RotationCost {
  // A live chip with turns of 100 us, and the same without a rotation: only as many events as there are counters.
  struct Live {
    std::string chip;
    double rotating_seconds = 0;  // of processor time, for the same cycles
    double plain_seconds = 0;
    double triggered_seconds =
        0;  // without a rotation, and with a trigger every 100 us: all counters are read as often
    double ratio() const { return rotating_seconds / plain_seconds; }
  };
  std::vector<Live> live;
  // Mean pipeline cycles.
  double slot_cycles = 0, switch_cycles = 0;
  uint64_t slot_ends = 0, switches = 0;
  // Bit times of a snapshot a second after another, and of one with a counter for each event.
  uint64_t rotating_bit_times = 0, exact_bit_times = 0;
  // Bytes for a rotated event of a context: between its turns, and what its block shows.
  uint64_t state_bytes = 0, shown_bytes = 0;
};

// `examples` is the folder of the chip files; `scratch` must exist and gets variants of them.
absl::StatusOr<RotationCost> MeasureRotationCost(const std::string& examples, const std::string& scratch);

Rows RowsOf(const RotationCost& cost);

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_LAB_BENCH_BENCHMARKS_H_
