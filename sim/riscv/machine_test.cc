// SPDX-License-Identifier: Apache-2.0
//
// The cycles of events, to the cycle; the order of cores at the L2 and at their ports.
#include "sim/riscv/machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "sim/riscv/csr.h"
#include "sim/riscv/kernels/kernels.h"
#include "sim/riscv/program.h"
#include "sim/riscv/shape.h"
#include "sim/riscv/test_core.h"
#include "sim/wires/packed_wires.h"
#include "sim/wires/wire_source.h"

namespace sideband::riscv {
namespace {

constexpr as::Reg kSp = 2;
constexpr uint64_t kWindow = 4096;

// A machine whose wires are all kept, from cycle 0 on.
class RecordedMachine {
 public:
  RecordedMachine(const MachineShape& shape, const std::vector<CoreProgram>& programs)
      : machine_(Machine::Create(shape, programs).value()), window_(machine_->wires().count(), kWindow) {
    machine_->Record(&window_);
  }

  Machine& machine() { return *machine_; }
  const sim::PackedWires& window() const { return window_; }
  std::vector<uint64_t> Cycles(CoreEvent event, uint32_t core = 0) const {
    return CyclesOf(machine_->wires().core(core) + Index(event));
  }
  std::vector<uint64_t> Cycles(SliceEvent event, uint32_t slice = 0) const {
    return CyclesOf(machine_->wires().slice(slice) + Index(event));
  }
  // Every wire has as many bits as its tally.
  void ExpectTallies() const {
    for (sim::WireId wire = 0; wire < window_.wire_count(); ++wire) {
      EXPECT_EQ(CyclesOf(wire).size(), machine_->tally(wire)) << machine_->wires().Name(wire);
    }
  }

 private:
  std::vector<uint64_t> CyclesOf(sim::WireId wire) const {
    std::vector<uint64_t> cycles;
    for (uint64_t cycle = 0; cycle < window_.range().end; ++cycle) {
      if (window_.Bit(wire, cycle)) cycles.push_back(cycle);
    }
    return cycles;
  }

  const std::unique_ptr<Machine> machine_;
  sim::PackedWires window_;
};

using List = std::vector<uint64_t>;

// A hop of 1, an L2 of 10, a memory of 60, one slice, and caches of a single line each but the L2.
const MachineShape kTiny{.memory_bytes = 1 << 16,
                         .l1i = {.bytes = 64, .ways = 1},
                         .l1d = {.bytes = 64, .ways = 1},
                         .l2 = {.bytes = 4096, .ways = 4},
                         .l2_slices = 1};
const uint32_t kExit[] = {as::Csrrwi(0, kMexit, 0)};

CoreProgram AtMachineLevel(std::vector<uint32_t> words, CsrPort* port = nullptr) {
  words.push_back(kExit[0]);
  return {.words = std::move(words), .is_user = false, .port = port};
}

TEST(MachineTest, MissesCostTheirLatencies) {
  RecordedMachine recorded(kTiny, {AtMachineLevel({
                                      as::Ld(1, kSp, 0),    // 71: misses
                                      as::Sd(1, kSp, 8),    // 142: hits the same line
                                      as::Addi(1, 1, 1),    // 143
                                      as::Sd(1, kSp, -64),  // 144: misses, and drives the modified line out
                                      as::Ld(1, kSp, 0),    // 216: again, from the L2
                                  })});
  recorded.machine().RunTo(1000);
  // The request arrives at 1; the line is there at 1 + 10 + 60.
  EXPECT_EQ(recorded.Cycles(CoreEvent::kL1iRead), (List{0, 142, 143, 144, 216, 228}));
  EXPECT_EQ(recorded.Cycles(CoreEvent::kL1iReadMiss), (List{0}));
  EXPECT_EQ(recorded.Cycles(CoreEvent::kInstructions), (List{71, 142, 143, 144, 216, 228}));
  EXPECT_EQ(recorded.Cycles(CoreEvent::kL1dRead), (List{71, 216}));
  EXPECT_EQ(recorded.Cycles(CoreEvent::kL1dReadMiss), (List{71, 216}));
  EXPECT_EQ(recorded.Cycles(CoreEvent::kL1dWrite), (List{142, 144}));
  EXPECT_EQ(recorded.Cycles(CoreEvent::kL1dWriteMiss), (List{144}));
  EXPECT_EQ(recorded.Cycles(CoreEvent::kL1dWriteback), (List{144, 216}));
  // 144: the write-back arrives at 145, the request for the line at 146. 216 likewise, and the L2 has the line.
  EXPECT_EQ(recorded.Cycles(SliceEvent::kRead), (List{1, 72, 146, 218}));
  EXPECT_EQ(recorded.Cycles(SliceEvent::kReadMiss), (List{1, 72, 146}));
  EXPECT_EQ(recorded.Cycles(SliceEvent::kWrite), (List{145, 217}));
  EXPECT_EQ(recorded.Cycles(SliceEvent::kWriteMiss), List{});
  EXPECT_EQ(recorded.Cycles(SliceEvent::kWriteback), List{});
  // The exit is the last instruction.
  EXPECT_EQ(recorded.Cycles(CoreEvent::kCycles).size(), 229u);
  EXPECT_TRUE(recorded.machine().halted());
  recorded.ExpectTallies();
}

TEST(MachineTest, TheL2AllocatesWhatIsWrittenBackAndWritesItToTheMemory) {
  MachineShape shape = kTiny;
  shape.l1d = {.bytes = 128, .ways = 1};
  shape.l2 = {.bytes = 64, .ways = 1};
  // The second access drives the first one's line out of the L2, the third out of the L1D.
  RecordedMachine recorded(shape, {AtMachineLevel({as::Sd(1, kSp, 0), as::Ld(1, kSp, -64), as::Sd(1, kSp, -128)})});
  recorded.machine().RunTo(1000);
  EXPECT_EQ(recorded.Cycles(SliceEvent::kRead), (List{1, 72, 143, 215}));
  EXPECT_EQ(recorded.Cycles(SliceEvent::kReadMiss), (List{1, 72, 143, 215}));
  EXPECT_EQ(recorded.Cycles(SliceEvent::kWrite), (List{214}));
  EXPECT_EQ(recorded.Cycles(SliceEvent::kWriteMiss), (List{214}));
  EXPECT_EQ(recorded.Cycles(SliceEvent::kWriteback), (List{215}));
  recorded.ExpectTallies();
}

TEST(MachineTest, ASliceServesOneCoreACycle) {
  MachineShape shape = kTiny;
  shape.cores = 3;
  const CoreProgram program = AtMachineLevel({as::kNop});
  RecordedMachine recorded(shape, {program, program, program});
  recorded.machine().RunTo(1000);
  EXPECT_EQ(recorded.Cycles(SliceEvent::kRead), (List{1, 2, 3}));
  for (uint32_t core = 0; core < 3; ++core) {
    EXPECT_EQ(recorded.Cycles(CoreEvent::kInstructions, core), (List{71 + core, 72 + core}));
  }
  recorded.ExpectTallies();
}

TEST(MachineTest, LinesAlternateBetweenSlices) {
  MachineShape shape = kTiny;
  shape.l2_slices = 2;
  RecordedMachine recorded(shape, {AtMachineLevel({as::Ld(1, kSp, -64), as::Ld(1, kSp, -128), as::Ld(1, kSp, -192)})});
  recorded.machine().RunTo(1000);
  // The stack pointer is 32 below the end, so -64 is in the last line but one.
  EXPECT_EQ(recorded.Cycles(SliceEvent::kRead, 0), (List{1, 72, 214}));
  EXPECT_EQ(recorded.Cycles(SliceEvent::kRead, 1), (List{143}));
}

TEST(MachineTest, CoresDoNotShareLines) {
  MachineShape shape = kTiny;
  shape.cores = 2;
  const CoreProgram program = AtMachineLevel({as::Sd(1, kSp, 0)});
  RecordedMachine recorded(shape, {program, program});
  recorded.machine().RunTo(1000);
  EXPECT_EQ(recorded.machine().Sum(SliceEvent::kRead), 4u);
  EXPECT_EQ(recorded.machine().Sum(SliceEvent::kReadMiss), 4u);
}

TEST(MachineTest, AnInterruptDropsWhatWasFetched) {
  // The handler is in another line. The timer strikes while the second line is on its way.
  std::vector<uint32_t> words = {as::Auipc(31, 1),          as::Csrrw(0, kMtvec, 31), as::Addi(1, 0, 0x80),
                                 as::Csrrw(0, kMie, 1),     as::Addi(1, 0, 100),      as::Csrrw(0, kMtimecmp, 1),
                                 as::Csrrsi(0, kMstatus, 8)};
  words.resize(17, as::kNop);
  words.resize(1024, as::kIllegal);
  words.push_back(as::Csrrs(5, kMepc, 0));
  RecordedMachine recorded(kTiny, {AtMachineLevel(words)});
  recorded.machine().RunTo(1000);
  // 16 instructions from 71 on. The one in the next line is fetched at 87, and would execute at 158.
  EXPECT_EQ(recorded.Cycles(CoreEvent::kL1iReadMiss), (List{0, 87, 159}));
  EXPECT_EQ(recorded.machine().core(0).x(5), kProgramBase + 64);
  EXPECT_EQ(recorded.machine().tally(Index(CoreEvent::kInstructions)), 16u + 2);
  EXPECT_EQ(recorded.machine().tally(Index(CoreEvent::kL1iRead)), 16u + 1 + 2);
  recorded.ExpectTallies();
}

TEST(MachineTest, TheEndOfTheCyclesMayBeAnywhere) {
  MachineShape shape = kTiny;
  shape.cores = 2;
  const CoreProgram program =
      AtMachineLevel({as::Addi(3, 0, 20), as::Addi(kSp, kSp, -64), as::Sd(3, kSp, 0), as::Ld(4, kSp, 64),
                      as::Addi(3, 3, -1), as::Bne(3, 0, -16), as::kIllegal});
  RecordedMachine whole(shape, {program, program});
  whole.machine().RunTo(kWindow);
  for (const uint64_t step : {1, 7, 64, 1000}) {
    RecordedMachine split(shape, {program, program});
    while (split.machine().cycle() < kWindow) {
      split.machine().RunTo(std::min(kWindow, split.machine().cycle() + step));
      if (split.machine().cycle() % 61 == 0) split.ExpectTallies();
    }
    split.ExpectTallies();
    for (sim::WireId wire = 0; wire < whole.window().wire_count(); ++wire) {
      const auto expected = whole.window().words(wire), actual = split.window().words(wire);
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), actual.begin(), actual.end())) << step << " " << wire;
    }
  }
}

TEST(MachineTest, RecordingMayBeginLate) {
  const auto machine = Machine::Create(kTiny, {AtMachineLevel({as::Addi(1, 1, 1), as::Jal(0, -4)})}).value();
  machine->RunTo(100);
  sim::PackedWires window(machine->wires().count(), 256);
  window.Reset(100);
  machine->Record(&window);
  machine->RunTo(200);
  machine->Record(nullptr);
  machine->RunTo(300);
  const sim::WireId cycles = Index(CoreEvent::kCycles), instructions = Index(CoreEvent::kInstructions);
  for (const sim::WireId wire : {cycles, instructions}) {
    uint64_t sum = 0;
    window.AddCounts({0, 1000}, {&wire, 1}, {&sum, 1});
    EXPECT_EQ(sum, 100u);
  }
  EXPECT_EQ(machine->tally(cycles), 300u);
  EXPECT_EQ(machine->tally(instructions), 300u - 71);
}

// Counts, at each access, the events that the wires show of the cycles before it.
class WatchingPort final : public CsrPort {
 public:
  struct Access {
    uint32_t core;
    uint64_t cycle;
    std::vector<uint64_t> counts;
  };
  WatchingPort(uint32_t core, std::vector<Access>& log) : core_(core), log_(log) {}
  void Watch(const sim::PackedWires& window) { window_ = &window; }

  std::optional<uint64_t> Read(uint16_t, Privilege, uint64_t cycle) override {
    log_.push_back({core_, cycle, Counts(*window_, cycle)});
    return log_.size();
  }
  bool Write(uint16_t, uint64_t, Privilege, uint64_t) override { return true; }

  static std::vector<uint64_t> Counts(const sim::PackedWires& window, uint64_t end) {
    std::vector<uint64_t> counts(window.wire_count());
    window.AddConsecutiveCounts({0, end}, 0, counts);
    return counts;
  }

 private:
  const uint32_t core_;
  std::vector<Access>& log_;
  const sim::PackedWires* window_ = nullptr;
};

// Programs that read their ports every few instructions, and miss as often.
std::vector<CoreProgram> ReadersOf(uint32_t cores, std::vector<WatchingPort::Access>& log,
                                   std::vector<std::unique_ptr<WatchingPort>>& ports) {
  std::vector<CoreProgram> programs;
  for (uint32_t core = 0; core < cores; ++core) {
    ports.push_back(std::make_unique<WatchingPort>(core, log));
    std::vector<uint32_t> words = {as::Addi(3, 0, 12), as::Addi(kSp, kSp, -64), as::Sd(3, kSp, 0)};
    for (uint32_t i = 0; i < core; ++i) words.push_back(as::kNop);
    words.insert(words.end(), {as::Csrrs(6, kHpcr, 0), as::Csrrwi(0, kHpcc, 1), as::Addi(3, 3, -1)});
    words.push_back(as::Bne(3, 0, 4 - 4 * static_cast<int32_t>(words.size())));
    programs.push_back(AtMachineLevel(words, ports.back().get()));
  }
  return programs;
}

TEST(MachineTest, PortsAreAccessedInTheOrderOfCyclesAndSeeAllThatWasBefore) {
  MachineShape shape = kTiny;
  shape.cores = 3;
  std::vector<WatchingPort::Access> log;
  std::vector<std::unique_ptr<WatchingPort>> ports;
  RecordedMachine recorded(shape, ReadersOf(shape.cores, log, ports));
  for (const auto& port : ports) port->Watch(recorded.window());
  recorded.machine().RunTo(kWindow);
  ASSERT_TRUE(recorded.machine().halted());

  ASSERT_EQ(log.size(), 36u);
  for (size_t i = 0; i < log.size(); ++i) {
    if (i > 0) {
      EXPECT_TRUE(log[i - 1].cycle < log[i].cycle ||
                  (log[i - 1].cycle == log[i].cycle && log[i - 1].core < log[i].core));
    }
    EXPECT_EQ(log[i].counts, WatchingPort::Counts(recorded.window(), log[i].cycle)) << i;
  }
  recorded.ExpectTallies();
}

TEST(MachineTest, StopsBeforeEachAccessAndPerformsItNext) {
  MachineShape shape = kTiny;
  shape.cores = 4;
  for (const uint64_t step : {uint64_t{7}, uint64_t{500}, kWindow}) {
    std::vector<WatchingPort::Access> log;
    std::vector<std::unique_ptr<WatchingPort>> ports;
    RecordedMachine recorded(shape, ReadersOf(shape.cores, log, ports));
    for (const auto& port : ports) port->Watch(recorded.window());
    Machine& machine = recorded.machine();
    while (machine.cycle() < kWindow) {
      const uint64_t before = machine.cycle();
      const size_t accesses = log.size();
      machine.RunToAccess(std::min(kWindow, before + step));
      EXPECT_EQ(recorded.window().range().end, machine.cycle());
      ASSERT_LE(log.size(), accesses + 1) << "the port is written in the cycle after";
      EXPECT_TRUE(log.size() == accesses || log.back().cycle == before) << "where the last call stopped";
    }
    EXPECT_TRUE(machine.halted());
    EXPECT_EQ(log.size(), shape.cores * 12u);
    recorded.ExpectTallies();
  }
}

TEST(MachineTest, EachCoreHasItsNumberArgumentAndStack) {
  const MachineShape shape{.cores = 2, .memory_bytes = 1 << 20};
  CoreProgram program = AtMachineLevel({as::Csrrs(5, kMhartid, 0)});
  program.argument = 7;
  const auto machine = Machine::Create(shape, {program, program}).value();
  machine->RunTo(1000);
  for (uint32_t core = 0; core < 2; ++core) {
    EXPECT_EQ(machine->core(core).x(5), core);
    EXPECT_EQ(machine->core(core).x(10), 7u);
    EXPECT_EQ(machine->core(core).x(2), kProgramBase + (1 << 20) - 32);
  }
}

TEST(MachineTest, ACoreHaltsAfterItsInstructionsAndLeavesNothingOnTheWay) {
  for (uint64_t limit = 0; limit < 12; ++limit) {
    CoreProgram program =
        AtMachineLevel({as::Sd(1, kSp, 0), as::Sd(1, kSp, -64), as::Sd(1, kSp, -128), as::Jal(0, -12)});
    program.instructions_max = limit;
    const auto machine = Machine::Create(kTiny, {program}).value();
    machine->RunTo(10'000);
    EXPECT_TRUE(machine->halted());
    EXPECT_EQ(machine->Sum(CoreEvent::kInstructions), limit);
    EXPECT_EQ(machine->Sum(SliceEvent::kRead),
              machine->Sum(CoreEvent::kL1iReadMiss) + machine->Sum(CoreEvent::kL1dWriteMiss));
    EXPECT_EQ(machine->Sum(SliceEvent::kWrite), machine->Sum(CoreEvent::kL1dWriteback));
  }
}

TEST(MachineTest, RefusesWhatDoesNotFit) {
  EXPECT_EQ(Machine::Create({.cores = 0}, {}).status(), absl::InvalidArgumentError("cores must be 1 to 8"));
  EXPECT_EQ(Machine::Create({.cores = 2}, {AtMachineLevel({})}).status(),
            absl::InvalidArgumentError("1 programs for 2 cores"));
  const CoreProgram large{.words = std::vector<uint32_t>((1 << 14) - 7)};
  EXPECT_EQ(Machine::Create(kTiny, {large}).status(),
            absl::InvalidArgumentError("a program of 16377 words does not fit memory_bytes"));
  const CoreProgram fitting{.words = std::vector<uint32_t>((1 << 14) - 8)};
  EXPECT_TRUE(Machine::Create(kTiny, {fitting}).ok());
}

constexpr uint64_t kInstructions = 200'000;

std::unique_ptr<Machine> MachineOf(const Kernel& kernel, uint32_t cores) {
  const CoreProgram program{.words = {kernel.words.begin(), kernel.words.end()},
                            .argument = ~uint64_t{0},
                            .instructions_max = kInstructions / cores};
  return Machine::Create({.cores = cores, .l1d = {.bytes = 4096, .ways = 2}}, std::vector<CoreProgram>(cores, program))
      .value();
}

TEST(ProgramSourceTest, WiresAddUpToTheMachinesTallies) {
  for (const uint32_t cores : {1, 2, 4}) {
    for (const Kernel& kernel : Kernels()) {
      ProgramSource source(MachineOf(kernel, cores), /*window_cycles=*/4096);
      std::vector<uint64_t> sums(source.machine().wires().count());
      while (!source.machine().halted()) {
        const uint64_t from = source.now();
        source.Advance();
        source.AddConsecutiveCounts({from, source.now()}, 0, sums);
        for (sim::WireId wire = 0; wire < sums.size(); ++wire) {
          ASSERT_EQ(sums[wire], source.machine().tally(wire))
              << std::string(kernel.name) << " " << source.machine().wires().Name(wire) << " " << source.now();
        }
      }
      EXPECT_EQ(source.machine().Sum(CoreEvent::kInstructions), kInstructions);
    }
  }
}

// The lines that the L1s have missed, and the L2 has not yet read, in every cycle.
class Outstanding {
 public:
  explicit Outstanding(const ProgramSource& source) : source_(source), wires_(source.machine().wires()) {}

  void Pass(uint64_t cycle) {
    const MachineShape& shape = source_.machine().shape();
    for (uint32_t core = 0; core < shape.cores; ++core) {
      for (const CoreEvent miss : {CoreEvent::kL1iReadMiss, CoreEvent::kL1dReadMiss, CoreEvent::kL1dWriteMiss}) {
        reads_ += Bit(wires_.core(core) + Index(miss), cycle);
      }
      writes_ += Bit(wires_.core(core) + Index(CoreEvent::kL1dWriteback), cycle);
    }
    for (uint32_t slice = 0; slice < shape.l2_slices; ++slice) {
      reads_ -= Bit(wires_.slice(slice) + Index(SliceEvent::kRead), cycle);
      writes_ -= Bit(wires_.slice(slice) + Index(SliceEvent::kWrite), cycle);
    }
  }
  int64_t reads() const { return reads_; }
  int64_t writes() const { return writes_; }

 private:
  int64_t Bit(sim::WireId wire, uint64_t cycle) const { return source_.window().Bit(wire, cycle) ? 1 : 0; }

  const ProgramSource& source_;
  const EventWires wires_;
  int64_t reads_ = 0;
  int64_t writes_ = 0;
};

TEST(ProgramSourceTest, InEveryCycleAtMostOneMissOfEachCoreIsOnItsWay) {
  for (const uint32_t cores : {1, 4}) {
    for (const char* name : {"hash", "sort", "stream"}) {
      ProgramSource source(MachineOf(*FindKernel(name), cores));
      Outstanding outstanding(source);
      while (!source.machine().halted()) {
        const uint64_t from = source.now();
        source.Advance();
        for (uint64_t cycle = from; cycle < source.now(); ++cycle) {
          outstanding.Pass(cycle);
          ASSERT_GE(outstanding.reads(), 0) << cycle;
          ASSERT_LE(outstanding.reads(), cores) << cycle;
          ASSERT_GE(outstanding.writes(), 0) << cycle;
          ASSERT_LE(outstanding.writes(), cores) << cycle;
        }
      }
      EXPECT_EQ(outstanding.reads(), 0);
      EXPECT_EQ(outstanding.writes(), 0);
    }
  }
}

TEST(ProgramSourceTest, TheHistoryBeforeAWindowRemainsCountable) {
  ProgramSource source(MachineOf(*FindKernel("sort"), 1), /*window_cycles=*/4096);
  ProgramSource whole(MachineOf(*FindKernel("sort"), 1), /*window_cycles=*/1 << 20);
  whole.AdvanceTo(50'000);
  const sim::WireId wire = Index(CoreEvent::kL1dRead);
  const auto count = [&](const ProgramSource& counted, sim::CycleRange range) {
    uint64_t sum = 0;
    counted.AddCounts(range, {&wire, 1}, {&sum, 1});
    return sum;
  };
  uint64_t steps = 0;
  while (source.now() < 50'000) {
    const uint64_t before = source.now();
    source.AdvanceTo(std::min<uint64_t>(50'000, before + 777 + steps++ % 500));
    ASSERT_GT(source.now(), before);
    const sim::CycleRange range{before - std::min(before, sim::kHistoryCycles), source.now()};
    EXPECT_EQ(count(source, range), count(whole, range)) << before;
  }
}

TEST(ProgramSourceTest, AdvancesAsFarAsTheWindowReaches) {
  ProgramSource source(MachineOf(*FindKernel("crc"), 1), /*window_cycles=*/4096);
  source.AdvanceTo(100);
  EXPECT_EQ(source.now(), 100u);
  source.Advance();
  EXPECT_EQ(source.now(), 4096u);
  source.AdvanceTo(5000);
  EXPECT_EQ(source.now(), 5000u);
  source.AdvanceTo(100'000);
  EXPECT_EQ(source.now(), 8192u);
}

}  // namespace
}  // namespace sideband::riscv
