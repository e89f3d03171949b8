// SPDX-License-Identifier: Apache-2.0
//
// A program for the cores of sim/riscv, whatever its words. A run is bounded; wires add up to the machine's tallies;
// the L2 reads what the L1s miss, but for a line of each core; the steps in which the machine is run change nothing.
//   Input: a byte of options (bit 0: a user program; bit 1: two cores; bit 2: the port refuses), then words.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/riscv/core.h"
#include "sim/riscv/csr.h"
#include "sim/riscv/kernels/kernels.h"
#include "sim/riscv/machine.h"
#include "sim/riscv/program.h"
#include "sim/riscv/shape.h"
#include "sim/riscv/test_core.h"
#include "sim/wires/wire_source.h"
#include "tests/fuzz/fuzz_target.h"

namespace sideband::fuzz {
namespace {

using riscv::CoreEvent;
using riscv::SliceEvent;

constexpr uint64_t kCycles = 2000;
constexpr uint64_t kMemoryBytes = uint64_t{64} << 10;
constexpr size_t kWordsMax = 1000;

enum Option : uint8_t { kUser = 1, kTwoCores = 2, kRefusing = 4 };

class FuzzPort final : public riscv::CsrPort {
 public:
  explicit FuzzPort(bool refuses) : refuses_(refuses) {}
  std::optional<uint64_t> Read(uint16_t csr, riscv::Privilege, uint64_t cycle) override {
    Check(csr, cycle);
    return refuses_ ? std::nullopt : std::optional(cycle);
  }
  bool Write(uint16_t csr, uint64_t, riscv::Privilege, uint64_t cycle) override {
    Check(csr, cycle);
    FUZZ_CHECK(csr != riscv::kHpcr);
    return !refuses_;
  }

 private:
  void Check(uint16_t csr, uint64_t cycle) {
    FUZZ_CHECK(riscv::IsPortCsr(csr));
    FUZZ_CHECK(cycle >= last_);
    last_ = cycle;
  }

  const bool refuses_;
  uint64_t last_ = 0;
};

struct Input {
  uint8_t options = 0;
  std::vector<uint32_t> words;

  bool Has(Option option) const { return (options & option) != 0; }
};

Input Parse(ByteSpan bytes) {
  Input input;
  if (bytes.empty()) return input;
  input.options = bytes[0];
  input.words.resize(std::min(kWordsMax, (bytes.size() - 1) / 4));
  if (!input.words.empty()) std::memcpy(input.words.data(), bytes.data() + 1, 4 * input.words.size());
  return input;
}

Bytes Encode(uint8_t options, const std::vector<uint32_t>& words) {
  ByteWriter out;
  out.U8(options);
  for (const uint32_t word : words) out.U32(word);
  return std::move(out).Take();
}

// Small caches, so that lines leave them soon.
std::unique_ptr<riscv::Machine> MakeMachine(const Input& input, riscv::CsrPort& port) {
  const riscv::MachineShape shape{.cores = input.Has(kTwoCores) ? 2u : 1u,
                                  .memory_bytes = kMemoryBytes,
                                  .line_bytes = 16,
                                  .l1i = {.bytes = 64, .ways = 2},
                                  .l1d = {.bytes = 64, .ways = 2},
                                  .l2 = {.bytes = 256, .ways = 2},
                                  .l2_cycles = 3,
                                  .memory_cycles = 5};
  const riscv::CoreProgram program{.words = input.words, .argument = 1, .is_user = input.Has(kUser), .port = &port};
  auto machine = riscv::Machine::Create(shape, std::vector<riscv::CoreProgram>(shape.cores, program));
  FUZZ_CHECK(machine.ok());
  return *std::move(machine);
}

// The difference of the two counts is on its way: at most a line of each core.
void CheckOnItsWay(uint64_t ahead, uint64_t behind, uint64_t cores) {
  FUZZ_CHECK(ahead >= behind);
  FUZZ_CHECK(ahead - behind <= cores);
}

void CheckLaws(const riscv::Machine& machine) {
  const uint64_t cores = machine.shape().cores;
  CheckOnItsWay(machine.Sum(CoreEvent::kL1iReadMiss) + machine.Sum(CoreEvent::kL1dReadMiss) +
                    machine.Sum(CoreEvent::kL1dWriteMiss),
                machine.Sum(SliceEvent::kRead), cores);
  CheckOnItsWay(machine.Sum(CoreEvent::kL1dWriteback), machine.Sum(SliceEvent::kWrite), cores);
  FUZZ_CHECK(machine.Sum(CoreEvent::kInstructions) <= machine.Sum(CoreEvent::kL1iRead));
  FUZZ_CHECK(machine.Sum(CoreEvent::kInstructions) <= machine.Sum(CoreEvent::kCycles));
  FUZZ_CHECK(machine.Sum(CoreEvent::kCycles) <= kCycles * cores);
}

void CheckWires(const riscv::ProgramSource& source) {
  std::vector<uint64_t> sums(source.machine().wires().count());
  source.AddConsecutiveCounts({0, source.now()}, 0, sums);
  for (sim::WireId wire = 0; wire < sums.size(); ++wire) FUZZ_CHECK(sums[wire] == source.machine().tally(wire));
}

void CheckEqual(const riscv::Machine& a, const riscv::Machine& b) {
  for (sim::WireId wire = 0; wire < a.wires().count(); ++wire) FUZZ_CHECK(a.tally(wire) == b.tally(wire));
  for (uint32_t core = 0; core < a.shape().cores; ++core) {
    FUZZ_CHECK(a.core(core).pc() == b.core(core).pc());
    FUZZ_CHECK(a.core(core).halt() == b.core(core).halt());
    FUZZ_CHECK(a.output(core) == b.output(core));
    for (size_t i = 0; i < 32; ++i) FUZZ_CHECK(a.core(core).x(i) == b.core(core).x(i));
  }
}

// Without caches a cycle is an instruction, a trap or an interrupt.
void RunBare(const Input& input) {
  FuzzPort port(input.Has(kRefusing));
  riscv::Memory memory(riscv::kProgramBase, kMemoryBytes);
  memory.Write(riscv::kProgramBase, input.words);
  riscv::LinuxCalls calls;
  riscv::Core core(memory, {.port = &port, .environment = input.Has(kUser) ? &calls : nullptr});
  core.Run(kCycles);
  FUZZ_CHECK(core.halt() || core.cycle() == kCycles);
  FUZZ_CHECK(core.instructions() <= core.cycle());
  FUZZ_CHECK(core.x(0) == 0);
  FUZZ_CHECK(core.pc() % 4 == 0);
}

std::vector<Bytes> Seeds() {
  namespace as = riscv::as;
  std::vector<Bytes> seeds;
  for (const riscv::Kernel& kernel : riscv::Kernels()) {
    seeds.push_back(Encode(kUser, {kernel.words.begin(), kernel.words.end()}));
  }
  // A timer's handler, which wakes a loop that reads counters, stores, and modifies its code.
  const std::vector<uint32_t> timer = {as::Auipc(31, 0),
                                       as::Addi(31, 31, 72),
                                       as::Csrrw(0, riscv::kMtvec, 31),
                                       as::Addi(1, 0, 0x80),
                                       as::Csrrw(0, riscv::kMie, 1),
                                       as::Csrrwi(0, riscv::kMtimecmp, 31),
                                       as::Csrrsi(0, riscv::kMstatus, 8),
                                       as::Csrrwi(0, riscv::kHpcm, 3),
                                       as::Csrrwi(0, riscv::kHpcc, 1),
                                       as::Csrrs(5, riscv::kHpcr, 0),
                                       as::Csrrs(6, riscv::kCycle, 0),
                                       as::Sd(6, 2, 0),
                                       as::Ld(7, 2, -512),
                                       as::Sw(0, 31, 64),
                                       as::kFenceI,
                                       as::Div(8, 6, 7),
                                       as::Addi(2, 2, -64),
                                       as::Jal(0, -32),
                                       as::Csrrs(9, riscv::kMtimecmp, 0),
                                       as::Addi(9, 9, 100),
                                       as::Csrrw(0, riscv::kMtimecmp, 9),
                                       as::kMret};
  for (const uint8_t options : {0, 2, 4, 6}) seeds.push_back(Encode(options, timer));
  return seeds;
}

int RunInput(const uint8_t* data, size_t size) {
  const fuzz::Input input = fuzz::Parse({data, size});
  fuzz::RunBare(input);

  fuzz::FuzzPort port(input.Has(fuzz::kRefusing)), steps_port(input.Has(fuzz::kRefusing));
  riscv::ProgramSource source(fuzz::MakeMachine(input, port), fuzz::kCycles);
  source.AdvanceTo(fuzz::kCycles);
  fuzz::CheckWires(source);
  fuzz::CheckLaws(source.machine());

  const std::unique_ptr<riscv::Machine> steps = fuzz::MakeMachine(input, steps_port);
  while (steps->cycle() < fuzz::kCycles)
    steps->RunTo(std::min(fuzz::kCycles, steps->cycle() + 1 + steps->cycle() % 97));
  fuzz::CheckEqual(source.machine(), *steps);
  return 0;
}

FUZZ_TARGET(riscv_fuzz);

}  // namespace
}  // namespace sideband::fuzz
