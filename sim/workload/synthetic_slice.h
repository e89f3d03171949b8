// SPDX-License-Identifier: Apache-2.0
//
// The wires of a slice that contexts share by turns, each with its own workload. A workload advances only while its
// context is resident, so its counts do not depend on the schedule.
//   SyntheticSlice slice;
//   SIDEBAND_RETURN_IF_ERROR(slice.Add("vm1", "ctx0", std::move(workload)));
//   slice.SwitchIn("vm1", "ctx0", 1000);
//   slice.AddCounts({1000, 1511}, wires, sums);   // the context's own cycles 0 to 510
//   slice.SwitchOut(1511);
#ifndef SIDEBAND_SIM_WORKLOAD_SYNTHETIC_SLICE_H_
#define SIDEBAND_SIM_WORKLOAD_SYNTHETIC_SLICE_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "sim/wires/wire_source.h"
#include "sim/workload/workload.h"

namespace sideband::sim {

// Not thread-safe.
class SyntheticSlice final : public WireSource {
 public:
  SyntheticSlice() = default;
  SyntheticSlice(const SyntheticSlice&) = delete;
  SyntheticSlice& operator=(const SyntheticSlice&) = delete;

  // Sets the workload of the context (or, if `context` is empty, of the VM without a context) while resident.
  // ALREADY_EXISTS if it has a workload; INVALID_ARGUMENT if the number of wires differs from that of earlier
  // workloads.
  absl::Status Add(absl::string_view vm, absl::string_view context, Workload workload);

  // Switches the current resident out at `cycle`. A context without a workload leaves the wires at 0.
  void SwitchIn(absl::string_view vm, absl::string_view context, uint64_t cycle) override;
  void SwitchOut(uint64_t cycle) override;

  // Cycles before the current residency count as 0, as do all cycles without a resident.
  void AddCounts(CycleRange range, std::span<const WireId> wires, std::span<uint64_t> sums) const override;
  void AddConsecutiveCounts(CycleRange range, WireId first, std::span<uint64_t> sums) const override;
  // Whether the wire is 1 in a cycle of the current residency; false before it, and without a resident.
  bool Bit(WireId wire, uint64_t cycle) const;

  // The context's own cycles in its finished residencies; 0 for a context without a workload.
  uint64_t own_cycles(absl::string_view vm, absl::string_view context) const;

 private:
  using Key = std::pair<std::string, std::string>;
  struct Context {
    Workload workload;
    uint64_t own_cycles = 0;
  };

  // The part of `range` in the current residency, in the resident's own cycles; empty without a resident.
  CycleRange OwnCycles(CycleRange range) const;

  std::map<Key, Context> contexts_;
  Context* resident_ = nullptr;  // into contexts_
  uint64_t resident_since_ = 0;
  // The range counted last: the units of a slice count the same range one after the other.
  mutable CycleRange counted_{0, 0};
  mutable Workload::Located located_{};
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WORKLOAD_SYNTHETIC_SLICE_H_
