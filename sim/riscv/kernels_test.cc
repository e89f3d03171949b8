// SPDX-License-Identifier: Apache-2.0
//
// Twelve kernels compute what they should, and the laws of the reference's experiment hold for 10^7 instructions of
// each on 1, 2 and 4 cores: the reads of the L2 are the misses of the L1s, exactly (registers.md, "Experiments").
#include "sim/riscv/kernels/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "sim/riscv/machine.h"
#include "sim/riscv/shape.h"

namespace sideband::riscv {
namespace {

constexpr uint64_t kCyclesMax = 100'000'000;

struct Expected {
  std::string kernel;
  uint64_t iterations;
  std::string checksum;
};

// The checksums that assemble_test.sh has found under qemu.
std::vector<Expected> ReadExpected() {
  std::ifstream file("sim/riscv/kernels/checksums.txt");
  std::vector<Expected> expected;
  Expected row;
  while (file >> row.kernel >> row.iterations >> row.checksum) expected.push_back(row);
  return expected;
}

TEST(KernelsTest, ThereAreTwelveInOrder) {
  EXPECT_EQ(Kernels().size(), 12u);
  EXPECT_TRUE(std::is_sorted(Kernels().begin(), Kernels().end(),
                             [](const Kernel& a, const Kernel& b) { return a.name < b.name; }));
  EXPECT_EQ(FindKernel("sort")->name, "sort");
  EXPECT_EQ(FindKernel("sor"), nullptr);
  EXPECT_EQ(FindKernel(""), nullptr);
}

TEST(KernelsTest, ChecksumsAreThoseUnderQemu) {
  const std::vector<Expected> rows = ReadExpected();
  for (const Kernel& kernel : Kernels()) {
    EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return row.kernel == kernel.name; }));
  }
  for (const auto& [name, iterations, checksum] : rows) {
    SCOPED_TRACE(name);
    const Kernel* const kernel = FindKernel(name);
    ASSERT_NE(kernel, nullptr);
    const auto machine =
        Machine::Create({.memory_bytes = uint64_t{2} << 20},
                        {{.words = {kernel->words.begin(), kernel->words.end()}, .argument = iterations}});
    ASSERT_TRUE(machine.ok()) << machine.status();
    (*machine)->RunTo(kCyclesMax);
    ASSERT_TRUE((*machine)->halted());
    EXPECT_EQ((*machine)->core(0).halt()->reason, Halt::Reason::kExited);
    EXPECT_EQ((*machine)->core(0).halt()->value, 0u);
    EXPECT_EQ((*machine)->output(0), checksum + "\n");
  }
}

constexpr uint64_t kExperimentInstructions = 10'000'000;
constexpr uint64_t kStep = 10'000'000;
constexpr uint64_t kExperimentCyclesMax = 1'000'000'000;

class MachineLawsTest : public testing::TestWithParam<uint32_t> {};

TEST_P(MachineLawsTest, L2ReadsAreL1Misses) {
  const uint32_t cores = GetParam();
  for (const Kernel& kernel : Kernels()) {
    SCOPED_TRACE(std::string(kernel.name));
    const CoreProgram program{.words = {kernel.words.begin(), kernel.words.end()},
                              .argument = ~uint64_t{0},
                              .instructions_max = kExperimentInstructions / cores};
    const auto created = Machine::Create({.cores = cores}, std::vector<CoreProgram>(cores, program));
    ASSERT_TRUE(created.ok()) << created.status();
    Machine& machine = **created;
    while (!machine.halted() && machine.cycle() < kExperimentCyclesMax) machine.RunTo(machine.cycle() + kStep);
    ASSERT_TRUE(machine.halted());

    EXPECT_EQ(machine.Sum(CoreEvent::kInstructions), kExperimentInstructions);
    EXPECT_EQ(machine.Sum(CoreEvent::kL1iRead), kExperimentInstructions) << "no kernel traps";
    EXPECT_EQ(machine.Sum(SliceEvent::kRead), machine.Sum(CoreEvent::kL1iReadMiss) +
                                                  machine.Sum(CoreEvent::kL1dReadMiss) +
                                                  machine.Sum(CoreEvent::kL1dWriteMiss));
    EXPECT_EQ(machine.Sum(SliceEvent::kWrite), machine.Sum(CoreEvent::kL1dWriteback));
    EXPECT_GT(machine.Sum(SliceEvent::kRead), 0u);
    EXPECT_LE(machine.Sum(CoreEvent::kL1dWriteback),
              machine.Sum(CoreEvent::kL1dReadMiss) + machine.Sum(CoreEvent::kL1dWriteMiss));
    EXPECT_LE(machine.Sum(SliceEvent::kReadMiss), machine.Sum(SliceEvent::kRead));
  }
}

INSTANTIATE_TEST_SUITE_P(Cores, MachineLawsTest, testing::Values(1, 2, 4),
                         [](const auto& info) { return std::to_string(info.param); });

}  // namespace
}  // namespace sideband::riscv
