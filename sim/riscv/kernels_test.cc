// SPDX-License-Identifier: Apache-2.0
#include "sim/riscv/kernels/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "sim/riscv/machine.h"

namespace sideband::riscv {
namespace {

constexpr uint64_t kCyclesMax = 100'000'000;

struct Expected {
  std::string kernel;
  uint64_t iterations;
  std::string checksum;
};

// What assemble_test.sh has found under qemu.
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

}  // namespace
}  // namespace sideband::riscv
