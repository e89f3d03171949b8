// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/base/status_macros.h"
#include "sim/riscv/kernels/kernels.h"
#include "sim/riscv/machine.h"
#include "sim/riscv/shape.h"
#include "tests/lab/bench/benchmarks.h"

namespace sideband::bench {
namespace {

using riscv::CoreEvent;
using riscv::Kernel;
using riscv::SliceEvent;

constexpr uint64_t kMissesStep = uint64_t{1} << 20;

struct Traffic {
  uint64_t reads;
  uint64_t writes;
};

// Of a machine whose cores have halted.
absl::StatusOr<Traffic> TrafficOf(const Kernel& kernel, const riscv::Machine& machine) {
  const uint64_t misses = machine.Sum(CoreEvent::kL1iReadMiss) + machine.Sum(CoreEvent::kL1dReadMiss) +
                          machine.Sum(CoreEvent::kL1dWriteMiss);
  const uint64_t writebacks = machine.Sum(CoreEvent::kL1dWriteback);
  const Traffic traffic{machine.Sum(SliceEvent::kRead), machine.Sum(SliceEvent::kWrite)};
  if (traffic.reads == misses && traffic.writes == writebacks) return traffic;
  return absl::InternalError(absl::StrCat(kernel.name, ": the L2 has ", traffic.reads, " reads and ", traffic.writes,
                                          " writes, the L1s ", misses, " misses and ", writebacks, " write-backs"));
}

absl::StatusOr<Traffic> RunOnCores(const Kernel& kernel, uint32_t cores, uint64_t instructions) {
  const riscv::CoreProgram program{.words = {kernel.words.begin(), kernel.words.end()},
                                   .argument = ~uint64_t{0},
                                   .instructions_max = instructions / cores};
  SIDEBAND_ASSIGN_OR_RETURN(const auto machine,
                            riscv::Machine::Create({.cores = cores}, std::vector<riscv::CoreProgram>(cores, program)));
  while (!machine->halted()) machine->RunTo(machine->cycle() + kMissesStep);
  return TrafficOf(kernel, *machine);
}

}  // namespace

absl::StatusOr<Rows> MeasureKernelMisses(uint64_t instructions) {
  Rows rows;
  for (const Kernel& kernel : riscv::Kernels()) {
    for (const uint32_t cores : {1, 2, 4}) {
      SIDEBAND_ASSIGN_OR_RETURN(const Traffic traffic, RunOnCores(kernel, cores, instructions));
      rows.push_back({absl::StrFormat("kernel: %s on %u cores, reads of the L2", kernel.name, cores),
                      static_cast<double>(traffic.reads), "",
                      absl::StrFormat("= misses of the L1s; %u writes = their write-backs", traffic.writes)});
    }
  }
  return rows;
}

}  // namespace sideband::bench
