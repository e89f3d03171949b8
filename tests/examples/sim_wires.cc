// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/wires/clocked_source.h"
#include "sim/wires/packed_wires.h"
#include "sim/wires/popcount.h"
#include "sim/wires/popcount_kernels.h"
#include "sim/wires/wire_source.h"

namespace sideband::sim {
namespace {

void UseClockedSource(const std::shared_ptr<WireSource>& slice, std::span<uint64_t> sums) {
  //@ sim/wires/clocked_source.h
}

void UsePackedWires(uint32_t wire_count, WireId wire, std::span<const WireId> wires, std::span<uint64_t> sums) {
  //@ sim/wires/packed_wires.h
}

void UsePopcount(const std::vector<uint64_t>& words, size_t stride, std::span<const WireId> rows,
                 std::span<uint64_t> sums) {
  //@ sim/wires/popcount.h
}

#if defined(__x86_64__)
void UsePopcountKernels(BitRows words, CycleRange bits, std::span<const WireId> rows, std::span<uint64_t> sums) {
  //@ sim/wires/popcount_kernels.h
}
#endif

}  // namespace
}  // namespace sideband::sim
