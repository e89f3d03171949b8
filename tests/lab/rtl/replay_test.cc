// SPDX-License-Identifier: Apache-2.0
//
// Waveforms of the RTL through `sideband-mcu replay`: its blocks, and its live counts at any cycle, are the testbench's
// tallies of the event wires, and what the RTL's own clients read (registers.md, laws R1, R2 and R10).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/lab/rtl/soc_bench.h"

namespace sideband::rtl {
namespace {

using Counts = std::map<std::string, uint64_t>;
using Json = nlohmann::json;

// A waveform of the RTL's system on chip through the program `sideband-mcu replay`. Slice c has core c's events, and
// the hypervisor's block those of the device.
class SocReplay {
 public:
  struct Residency {
    uint64_t start, end;
    std::string vm, context;
    size_t slice;
  };
  struct Peek {
    uint64_t cycle;
    std::string vm, context, event;
  };

  // The files are in `folder`.
  explicit SocReplay(std::string folder) : folder_(std::move(folder)) {}

  std::string trace() const { return folder_ + "/trace.vcd"; }
  // Residencies of a slice are added in order.
  void AddResidency(Residency residency) { residencies_.push_back(std::move(residency)); }
  // Peeks are added in any order.
  void AddPeek(Peek peek) { peeks_.push_back(std::move(peek)); }

  // The output of the program; null, and a message on standard error, if it fails.
  nlohmann::json Execute() const;

 private:
  std::string Schedule() const;
  std::string Peeks() const;

  const std::string folder_;
  std::vector<Residency> residencies_;
  std::vector<Peek> peeks_;
};

std::string SliceEventName(size_t event) {
  return "slice" + std::to_string(event / kSliceEvents) + "_" + kSliceEventNames[event % kSliceEvents];
}

// "l1d_read", "slice0_l2_read": an event of a core by its number (soc_bench.h).
std::string CoreEventName(size_t event) {
  return event < kFirstSlice ? kCoreEventNames[event] : SliceEventName(event - kFirstSlice);
}

// "device_cycles", "device_slice0_l2_read".
std::string DeviceEventName(size_t event) { return "device_" + (event == 0 ? "cycles" : SliceEventName(event - 1)); }

std::string SocReplay::Schedule() const {
  std::string rows = "start_cycle,end_cycle,vm,context,slice\n";
  for (const Residency& residency : residencies_) {
    rows += std::to_string(residency.start) + "," + std::to_string(residency.end) + "," + residency.vm + "," +
            residency.context + "," + std::to_string(residency.slice) + "\n";
  }
  return rows;
}

Json Signals() {
  Json events = Json::array();
  for (size_t core = 0; core < kCores; ++core) {
    for (size_t event = 0; event < kCoreEvents; ++event) {
      events.push_back({{"name", CoreEventName(event)},
                        {"signal", "TOP.core_events"},
                        {"bit", core * kCoreEvents + event},
                        {"op", "high"},
                        {"slice", core}});
    }
  }
  for (size_t event = 0; event < kDeviceEvents; ++event) {
    events.push_back({{"name", DeviceEventName(event)},
                      {"signal", "TOP.device_events"},
                      {"bit", event},
                      {"op", "high"},
                      {"scope", "device"}});
  }
  return {{"clock", "TOP.clk"}, {"events", events}};
}

std::string SocReplay::Peeks() const {
  std::vector<Peek> peeks = peeks_;
  std::stable_sort(peeks.begin(), peeks.end(), [](const Peek& a, const Peek& b) { return a.cycle < b.cycle; });
  std::string rows = "cycle,vm,context,event\n";
  for (const Peek& peek : peeks) {
    rows += std::to_string(peek.cycle) + "," + peek.vm + "," + peek.context + "," + peek.event + "\n";
  }
  return rows;
}

Json SocReplay::Execute() const {
  std::ofstream(folder_ + "/signals.json") << Signals();
  std::ofstream(folder_ + "/schedule.csv") << Schedule();
  std::ofstream(folder_ + "/peeks.csv") << Peeks();
  const std::string program = std::string(std::getenv("TEST_SRCDIR")) + "/sideband/secure_mcu/sideband-mcu";
  const std::string command = "cd '" + folder_ + "' && '" + program +
                              "' replay --signals signals.json --trace trace.vcd --schedule schedule.csv "
                              "--peek peeks.csv > answer.json";
  if (std::system(command.c_str()) != 0) return nullptr;
  std::ifstream answer(folder_ + "/answer.json");
  return Json::parse(answer);
}

constexpr uint64_t kCyclesMax = 400000;
constexpr const char* kVms[kCores] = {"vm1", "vm2"};

// Adds the cycles from `from` to `to`.
void AddCore(const CoreCounts& from, const CoreCounts& to, Counts& counts) {
  for (size_t event = 0; event < kCoreEvents; ++event) counts[CoreEventName(event)] += to[event] - from[event];
}
void AddDevice(const DeviceCounts& to, Counts& counts) {
  for (size_t event = 0; event < kDeviceEvents; ++event) counts[DeviceEventName(event)] += to[event];
}
Counts NoCounts() {
  Counts counts;
  AddCore({}, {}, counts);
  AddDevice({}, counts);
  return counts;
}
Counts OfCore(const CoreCounts& core) {
  Counts counts = NoCounts();
  AddCore({}, core, counts);
  return counts;
}
// The hypervisor's block has what all contexts do, and the device's own events.
Counts OfAll(const Tallies& tallies) {
  Counts counts = NoCounts();
  for (const CoreCounts& core : tallies.cores) AddCore({}, core, counts);
  AddDevice(tallies.device, counts);
  return counts;
}

// The blocks by VM and context.
std::map<std::pair<std::string, std::string>, Counts> Blocks(const nlohmann::json& answer) {
  std::map<std::pair<std::string, std::string>, Counts> blocks;
  for (const auto& block : answer["blocks"]) {
    const std::string context = block["context"].is_null() ? "" : block["context"];
    EXPECT_TRUE(block["flags"].empty());
    blocks[{block["vm"], context}] = block["counters"].get<Counts>();
  }
  return blocks;
}

class ReplayTest : public ::testing::Test {
 protected:
  ReplayTest() {
    std::filesystem::create_directories(folder_);
    bench_.Trace(replay_.trace());
  }

  // Runs a program on each core to its end; `each_cycle` may read, or switch contexts.
  template <typename EachCycle>
  void Run(const std::array<std::string, kCores>& programs, EachCycle each_cycle) {
    for (size_t core = 0; core < kCores; ++core) {
      const auto words = ReadProgram(programs[core]);
      ASSERT_FALSE(words.empty());
      bench_.Load(core, words);
      bench_.Switch(core, /*useren=*/true);
    }
    bench_.Start();
    while ((!bench_.halted(0) || !bench_.halted(1)) && bench_.cycle() < kCyclesMax) {
      each_cycle();
      bench_.Step();
    }
    ASSERT_TRUE(bench_.halted(0) && bench_.halted(1) && !bench_.trapped(0) && !bench_.trapped(1));
    bench_.EndTrace();
  }
  void Run(const std::array<std::string, kCores>& programs) {
    Run(programs, [] {});
  }

  // The core's program is a context of its own VM from the first cycle to the last.
  void Reside(size_t core) {
    replay_.AddResidency({.start = 0, .end = bench_.cycle(), .vm = kVms[core], .context = "ctx0", .slice = core});
  }

  // The live counts of a core's context, or of the device, at a cycle are to be `values`.
  void ExpectCore(size_t core, uint64_t cycle, std::span<const uint64_t> values) {
    for (size_t event = 0; event < kCoreEvents; ++event) {
      Expect({.cycle = cycle, .vm = kVms[core], .context = "ctx0", .event = CoreEventName(event)}, values[event]);
    }
  }
  void ExpectDevice(uint64_t cycle, std::span<const uint64_t> values) {
    for (size_t event = 0; event < kDeviceEvents; ++event) {
      Expect({.cycle = cycle, .vm = "vm0", .context = "", .event = DeviceEventName(event)}, values[event]);
    }
  }

  void CheckPeeks(const nlohmann::json& answer) const {
    EXPECT_EQ(answer["peeks"].size(), peeks_);
    for (const auto& peek : answer["peeks"]) {
      const std::tuple<uint64_t, std::string, std::string> key = {peek["cycle"], peek["vm"], peek["event"]};
      ASSERT_EQ(peek["count"], expected_.at(key)) << peek;
    }
  }

  void Expect(const SocReplay::Peek& peek, uint64_t value) {
    replay_.AddPeek(peek);
    expected_[{peek.cycle, peek.vm, peek.event}] = value;
    ++peeks_;
  }

  const std::string folder_ =
      std::string(std::getenv("TEST_TMPDIR")) + "/" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
  SocReplay replay_{folder_};
  SocBench bench_;
  std::map<std::tuple<uint64_t, std::string, std::string>, uint64_t> expected_;  // by cycle, VM and event
  size_t peeks_ = 0;
};

// --- Blocks ---------------------------------------------------------------------------------------------------------

void CheckBlocks(const nlohmann::json& answer, const Tallies& truth) {
  auto blocks = Blocks(answer);
  ASSERT_EQ(blocks.size(), 1 + 2 * kCores);
  EXPECT_EQ((blocks[{"vm0", ""}]), OfAll(truth));
  for (size_t core = 0; core < kCores; ++core) {
    EXPECT_EQ((blocks[{kVms[core], "ctx0"}]), OfCore(truth.cores[core]));
    EXPECT_EQ((blocks[{kVms[core], ""}]), OfCore(truth.cores[core]));
  }
}

// The published experiment: reads of the second level are misses of the first, and its writes are write-backs.
void CheckLaw(Counts counts) {
  EXPECT_EQ(counts["slice0_l2_read"] + counts["slice1_l2_read"],
            counts["l1i_readmiss"] + counts["l1d_readmiss"] + counts["l1d_writemiss"]);
  EXPECT_EQ(counts["slice0_l2_write"] + counts["slice1_l2_write"], counts["l1d_writeback"]);
  EXPECT_GT(counts["slice0_l2_read"], 0u);
}

class BlocksTest : public ReplayTest, public ::testing::WithParamInterface<std::array<std::string, kCores>> {};

TEST_P(BlocksTest, AreTheTallies) {
  Run(GetParam());
  for (size_t core = 0; core < kCores; ++core) Reside(core);
  const nlohmann::json answer = replay_.Execute();
  ASSERT_FALSE(answer.is_null());
  EXPECT_EQ(answer["cycles"], bench_.cycle());
  CheckBlocks(answer, bench_.tallies());
  for (size_t core = 0; core < kCores; ++core) CheckLaw(Blocks(answer)[{kVms[core], "ctx0"}]);
}

INSTANTIATE_TEST_SUITE_P(Programs, BlocksTest,
                         ::testing::Values(std::array<std::string, kCores>{"isa", "sum"},
                                           std::array<std::string, kCores>{"sieve", "sort"},
                                           std::array<std::string, kCores>{"matrix", "get"}));

// Two contexts of a VM in turn: each has what the core did while it was resident, and the VM all of it.
TEST_F(ReplayTest, BlocksOfContextsThatAreSwitched) {
  std::mt19937 random(3);
  std::vector<uint64_t> switches = {0};
  Run({"get_shared", "sum"}, [&] {
    if (random() % 1500 != 0) return;
    bench_.Switch(0, /*useren=*/true);
    if (switches.back() < bench_.cycle()) switches.push_back(bench_.cycle());
  });
  switches.push_back(bench_.cycle());
  Counts expected[2] = {NoCounts(), NoCounts()};
  for (size_t i = 0; i + 1 < switches.size(); ++i) {
    const std::string context = i % 2 == 0 ? "ctx0" : "ctx1";
    replay_.AddResidency({.start = switches[i], .end = switches[i + 1], .vm = "vm1", .context = context, .slice = 0});
    AddCore(bench_.TalliesAt(switches[i]).cores[0], bench_.TalliesAt(switches[i + 1]).cores[0], expected[i % 2]);
  }
  ASSERT_GT(switches.size(), 8u);
  auto blocks = Blocks(replay_.Execute());
  EXPECT_EQ((blocks[{"vm1", "ctx0"}]), expected[0]);
  EXPECT_EQ((blocks[{"vm1", "ctx1"}]), expected[1]);
  EXPECT_EQ((blocks[{"vm1", ""}]), OfCore(bench_.tallies().cores[0]));
}

// --- Live counts ----------------------------------------------------------------------------------------------------

TEST_F(ReplayTest, LiveCountsAreTheTallies) {
  Run({"sieve", "matrix"});
  std::mt19937 random(11);
  std::vector<uint64_t> cycles = {0, 1, bench_.cycle() - 1, bench_.cycle()};
  for (int i = 0; i < 12; ++i) cycles.push_back(random() % bench_.cycle());
  for (const uint64_t cycle : cycles) {
    const Tallies& tallies = bench_.TalliesAt(cycle);
    for (size_t core = 0; core < kCores; ++core) ExpectCore(core, cycle, tallies.cores[core]);
    ExpectDevice(cycle, tallies.device);
  }
  for (size_t core = 0; core < kCores; ++core) Reside(core);
  CheckPeeks(replay_.Execute());
}

// The programs read by CSRs, with stamps, the counts that the pipeline has at these cycles.
TEST_F(ReplayTest, LiveCountsAreWhatTheProgramsRead) {
  Run({"get", "get"});
  for (size_t core = 0; core < kCores; ++core) {
    Reside(core);
    for (const uint32_t reading : {0x0, 0x100}) {
      std::vector<uint64_t> values;
      for (uint32_t i = 0; i < kCoreEvents; ++i) values.push_back(bench_.WideResult(core, reading + 8 * (1 + i)));
      const uint64_t stamp = bench_.WideResult(core, reading);
      ASSERT_GT(stamp, 0u);
      ExpectCore(core, stamp, values);
    }
  }
  CheckPeeks(replay_.Execute());
}

TEST_F(ReplayTest, LiveCountsAreWhatTheFirmwareReads) {
  std::vector<SocBench::Reading> readings;
  const auto read = [&](uint16_t module, size_t counters) {
    const auto reading = bench_.Read(module, counters);
    ASSERT_TRUE(reading);
    readings.push_back(*reading);
  };
  Run({"sort", "sum"}, [&] {
    if (bench_.cycle() % 997 != 0) return;
    for (const uint16_t core : {0, 1}) read(core, kCoreEvents);
    read(hpc::kModuleDevice, kDeviceEvents);
  });
  ASSERT_GT(readings.size(), 30u);
  for (const SocBench::Reading& reading : readings) {
    if (reading.module == hpc::kModuleDevice) {
      ExpectDevice(reading.stamp, reading.values);
    } else {
      ExpectCore(reading.module, reading.stamp, reading.values);
    }
  }
  for (size_t core = 0; core < kCores; ++core) Reside(core);
  CheckPeeks(replay_.Execute());
}

}  // namespace

}  // namespace sideband::rtl
