// SPDX-License-Identifier: Apache-2.0
//
// What residents and the hypervisor do on a slice in the cycles of one clock: the part of synthetic_slice.h for each of
// its clock domains. All cycles are of that clock. A workload's own cycles are those in which it has run.
//   SliceDomain domain;
//   domain.SetHost(&host);
//   domain.SwitchIn(&workload, 1000);
//   domain.AddCounts({1000, 1511}, wires, sums);          // its own cycles 0 to 510
//   domain.SwitchMode(/*is_host=*/true, 1511, 1511);
//   domain.SwitchOut(1600);
#ifndef SIDEBAND_SIM_WORKLOAD_SLICE_DOMAIN_H_
#define SIDEBAND_SIM_WORKLOAD_SLICE_DOMAIN_H_

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <span>

#include "absl/strings/string_view.h"
#include "sim/wires/wire_source.h"
#include "sim/workload/workload.h"

namespace sideband::sim {

// Not thread-safe. The workloads must outlive it.
class SliceDomain final : public WireSource {
 public:
  // The hypervisor's workload; without one it leaves the wires at 0. To be called before any switch.
  void SetHost(const Workload* host) { host_ = host; }
  // The hypervisor runs also while there is no resident, from cycle 0 on.
  void LetHostRunAlone();

  // Switches the current resident out at `cycle`; null: the new one leaves the wires at 0, and has no modes.
  void SwitchIn(const Workload* workload, uint64_t cycle);
  using WireSource::SwitchIn;
  void SwitchMode(bool is_host, uint64_t cycle, uint64_t now) override;
  void SwitchOut(uint64_t cycle) override;

  // Cycles before the current residency count as 0, as do all cycles without a resident. Where the hypervisor runs
  // alone, the time without a resident is a residency, too.
  void AddCounts(CycleRange range, std::span<const WireId> wires, std::span<uint64_t> sums) const override;
  void AddConsecutiveCounts(CycleRange range, WireId first, std::span<uint64_t> sums) const override;
  bool AddModeCounts(CycleRange range, bool is_host, std::span<const WireId> wires,
                     std::span<uint64_t> sums) const override;
  bool AddConsecutiveModeCounts(CycleRange range, bool is_host, WireId first, std::span<uint64_t> sums) const override;
  // Whether the wire is 1 in a cycle of the current residency; false before it, and without a resident.
  bool Bit(WireId wire, uint64_t cycle) const;

  // The workload's own cycles in its finished residencies.
  uint64_t own_cycles(const Workload* workload) const;

 private:
  // A part of the current residency in one mode.
  struct Stretch {
    bool is_host;
    uint64_t begin;      // the first cycle
    uint64_t own_begin;  // in the own cycles of who works
  };
  // Of a range of a slice's cycles, in own cycles: since each of the two stands still while the other works, what they
  // do in a range is a range, too.
  struct OwnRanges {
    CycleRange range{0, 0};
    uint64_t version = 0;  // of the stretches
    CycleRange guest{0, 0}, host{0, 0};
  };

  void Begin(bool is_host, uint64_t cycle);
  void End(uint64_t cycle);
  void Leave(uint64_t cycle);
  const OwnRanges& OwnRangesOf(CycleRange range) const;
  void FindOwnRanges(CycleRange range) const;
  const Workload* Worker(bool is_host) const { return is_host ? host_ : resident_; }

  const Workload* host_ = nullptr;
  bool host_runs_alone_ = false;
  const Workload* resident_ = nullptr;
  std::map<const Workload*, uint64_t> own_cycles_;
  std::deque<Stretch> stretches_;  // ascending; those that may still be counted
  uint64_t version_ = 1;           // of the stretches
  // The range counted last: the units of a slice count the same range one after the other.
  mutable OwnRanges own_;
  mutable std::array<Workload::Located, 2> located_{};  // of the resident's part, and of the host's
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WORKLOAD_SLICE_DOMAIN_H_
