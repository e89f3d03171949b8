// SPDX-License-Identifier: Apache-2.0
//
// Counts a synthetic source bit by bit according to its definition, as a slow reference for the closed form in whole
// runs.
//   SyntheticSlice slice;                       // or a SteadyWorkload
//   BitwiseSource wires(slice);
//   wires.SwitchIn("vm1", "ctx0", 0);           // the slice's
//   wires.AddCounts({0, 511}, ids, sums);       // 511 × ids.size() calls of slice.Bit
#ifndef SIDEBAND_SIM_WORKLOAD_BITWISE_SOURCE_H_
#define SIDEBAND_SIM_WORKLOAD_BITWISE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "absl/strings/string_view.h"
#include "sim/wires/wire_source.h"

namespace sideband::sim {

// The source must outlive this object. Not thread-safe.
class BitwiseSource final : public WireSource {
 public:
  // Whether a wire is 1 in a cycle.
  using Bit = std::function<bool(WireId wire, uint64_t cycle)>;

  // Forwards context switches to `source`, and counts with `bit` alone.
  BitwiseSource(WireSource& source, Bit bit) : source_(source), bit_(std::move(bit)) {}
  // For sources with a member function Bit.
  template <typename Source>
  explicit BitwiseSource(Source& source)
      : BitwiseSource(source, [&source](WireId wire, uint64_t cycle) { return source.Bit(wire, cycle); }) {}

  void AddCounts(CycleRange range, std::span<const WireId> wires, std::span<uint64_t> sums) const override {
    for (size_t i = 0; i < wires.size(); ++i) {
      for (uint64_t cycle = range.begin; cycle < range.end; ++cycle) sums[i] += bit_(wires[i], cycle) ? 1 : 0;
    }
  }
  void SwitchIn(absl::string_view vm, absl::string_view context, uint64_t cycle) override {
    source_.SwitchIn(vm, context, cycle);
  }
  void SwitchOut(uint64_t cycle) override { source_.SwitchOut(cycle); }

 private:
  WireSource& source_;
  const Bit bit_;
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WORKLOAD_BITWISE_SOURCE_H_
