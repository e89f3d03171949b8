// SPDX-License-Identifier: Apache-2.0
//
// The testbench of the RTL's system on chip (soc_top.sv): loads programs, runs them, tallies every event wire, and
// reads counters as the firmware does. The events are those of soc.sv, in the order of its wires and of the managers'
// counters; the programs are those in programs/, made by programs/assemble.py.
//   SocBench bench;
//   bench.Load(/*core=*/0, ReadProgram("sieve"));
//   bench.Start();
//   while (!bench.halted(0)) bench.Step();
//   bench.tallies().cores[0][kInstructions];
#ifndef SIDEBAND_TESTS_LAB_RTL_SOC_BENCH_H_
#define SIDEBAND_TESTS_LAB_RTL_SOC_BENCH_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "secure_mcu/pipeline/hpc_client.h"
#include "tests/lab/rtl/Vsoc_top.h"
#include "verilated_vcd_c.h"

namespace sideband::rtl {

inline constexpr size_t kCores = 2;
inline constexpr size_t kSlices = 2;

// The events of a core. For each slice of the second level follow the slice's events of the core's requests.
enum CoreEvent : uint8_t {
  kCycles,  // until the core halts
  kInstructions,
  kL1iRead,
  kL1iReadMiss,
  kL1dRead,
  kL1dReadMiss,
  kL1dWrite,
  kL1dWriteMiss,
  kL1dWriteback,
  kFirstSlice,
};
enum SliceEvent : uint8_t { kRead, kReadMiss, kWrite, kWriteMiss, kWriteback, kSliceEvents };
inline constexpr size_t kCoreEvents = kFirstSlice + kSlices * kSliceEvents;
// The device's events: its cycles, and then the slices' events.
inline constexpr size_t kDeviceEvents = 1 + kSlices * kSliceEvents;

inline constexpr std::array<const char*, kFirstSlice> kCoreEventNames = {
    "cycles",       "instructions", "l1i_read",      "l1i_readmiss", "l1d_read",
    "l1d_readmiss", "l1d_write",    "l1d_writemiss", "l1d_writeback"};
inline constexpr std::array<const char*, kSliceEvents> kSliceEventNames = {"l2_read", "l2_readmiss", "l2_write",
                                                                           "l2_writemiss", "l2_writeback"};

constexpr size_t OfSlice(size_t slice, SliceEvent event) { return kFirstSlice + slice * kSliceEvents + event; }

using CoreCounts = std::array<uint64_t, kCoreEvents>;
using DeviceCounts = std::array<uint64_t, kDeviceEvents>;

// Counts of all cycles below one.
struct Tallies {
  std::array<CoreCounts, kCores> cores{};
  DeviceCounts device{};
};

class SocBench {
 public:
  // Programs write their results from here on, from the first address of their core.
  static constexpr uint32_t kResults = 0x8000;

  // A reading by the firmware.
  struct Reading {
    uint16_t module;
    uint64_t stamp;  // of the cycles below this
    std::vector<uint64_t> values;
  };

  SocBench();
  ~SocBench();

  // Before Start: a program for a core; the others halt at once. It is loaded where the core boots.
  void Load(size_t core, std::span<const uint32_t> words);
  // Before Start: writes a waveform of the wires of soc_top, whose first rising edge of clk is cycle 0.
  void Trace(const std::string& path);
  void Start();
  // After the last cycle of interest: the waveform is complete.
  void EndTrace();

  // In the next cycles the core's program has this privilege.
  void SetPrivilege(size_t core, mcu::HpcPrivilege privilege);
  // A context switch in the next cycle.
  void Switch(size_t core, bool useren);
  void Step() { Cycle(); }

  // An access of the firmware's client takes a cycle.
  void FirmwareWrite(mcu::HpcRegister which, uint64_t value);
  uint64_t FirmwareRead(mcu::HpcRegister which);
  // Reads the first counters of a module; nullopt if that is refused.
  std::optional<Reading> Read(uint16_t module, size_t counters);

  uint64_t cycle() const { return history_.size() - 1; }
  bool halted(size_t core) const { return (top_->halted >> core & 1) != 0; }
  bool trapped(size_t core) const { return (top_->trapped >> core & 1) != 0; }
  const Tallies& tallies() const { return history_.back(); }
  // `cycle` must not be in the future.
  const Tallies& TalliesAt(uint64_t cycle) const { return history_[cycle]; }
  // The word that the core's program has written at kResults + offset, 0 if none.
  uint32_t Result(size_t core, uint32_t offset) const;
  uint64_t WideResult(size_t core, uint32_t offset) const;

 private:
  void Cycle();
  void Clock();
  void Tally();
  void RecordStores();

  const std::unique_ptr<VerilatedContext> context_ = std::make_unique<VerilatedContext>();
  const std::unique_ptr<Vsoc_top> top_ = std::make_unique<Vsoc_top>(context_.get());
  std::unique_ptr<VerilatedVcdC> trace_;
  std::vector<Tallies> history_{Tallies{}};  // by cycle
  std::array<std::map<uint32_t, uint32_t>, kCores> results_;
};

// The words of the program `name`, which is among the data of the test; empty if it is not.
std::vector<uint32_t> ReadProgram(const std::string& name);

}  // namespace sideband::rtl

#endif  // SIDEBAND_TESTS_LAB_RTL_SOC_BENCH_H_
