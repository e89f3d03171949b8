// SPDX-License-Identifier: Apache-2.0
//
// The benchmarks that bench.cc runs; those with a test have headers of their own. README.md explains their rows.
//   SIDEBAND_ASSIGN_OR_RETURN(const Rows rows, MeasureScrapeLoad(folder));
#ifndef SIDEBAND_TESTS_LAB_BENCH_BENCHMARKS_H_
#define SIDEBAND_TESTS_LAB_BENCH_BENCHMARKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/lab/bench/curve.h"
#include "tests/lab/bench/row.h"

namespace sideband::bench {

// The time of the firmware for SMBPBI's base commands on an emulated device.
// The slowest of all commands, in microseconds of processor time: on a device that is up to date, and on one that first
// has to count 10 ms, the maximum lag of `sideband-mcu serve`. INTERNAL if a command is not answered.
absl::StatusOr<Rows> MeasureBaseCommands(const std::string& chip_file);

// The cost of clocks: a packet into the fit, beside a running least-squares update; a query; bytes of state.
// A clock of 1.3 GHz that is steady within 50 ppm, triggered 1000 times a second, with wires of 0 to 50 ns.
absl::StatusOr<Rows> MeasureClockCost();

// What clocks cost a live device: eight domains with triggers at 1 kHz beside the same device without (clocks.md,
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

// What five counters of the host cost by perf_event_open(2), as one group that is read before and after: what a
// program on the CPU would take in place of the registers. They count this thread on the CPU and nothing of a device.
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

// What counting many events on two multiplexed counters costs and misses, beside reading them by registers
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

// What sealing costs: processor time of records and exchanges, and a device's bus.
// Records: the speed of SealRecord relative to OpenSSL's EVP interface alone, which is initialised anew for each record
// of the same size; and contexts per second on one core, with 32 events, from blocks to records. An exchange: processor
// time of the sealer, with evidence of SEV-SNP and its chain. The bus: the bytes of snapshots of the chip's device if
// it seals, relative to those if it does not. Files of keys are written into `scratch`.
absl::StatusOr<Rows> MeasureSealingCost(const std::string& chip_file, const std::string& scratch);

// The host's cost of a transaction beyond the wire: the daemon's session on a bus that answers at once.
absl::StatusOr<Rows> MeasureSessionOverhead();

// Scrapes over real connections: one beside prometheus-cpp's Exposer, and many at once.
// Writes temporary certificates to `folder`, which must exist. Takes about half a minute.
absl::StatusOr<Rows> MeasureScrapeLoad(const std::string& folder);

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_LAB_BENCH_BENCHMARKS_H_
