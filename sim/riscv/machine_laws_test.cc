// SPDX-License-Identifier: Apache-2.0
//
// The laws of the reference's experiment for twelve kernels of 10^7 instructions on 1, 2 and 4 cores: the reads of the
// L2 are the misses of the L1s, exactly (registers.md, "Experiments").
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sim/riscv/event.h"
#include "sim/riscv/kernels/kernels.h"
#include "sim/riscv/machine.h"

namespace sideband::riscv {
namespace {

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
