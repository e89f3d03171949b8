// SPDX-License-Identifier: Apache-2.0
//
// The wires of a slice that contexts share by turns, each with its own workload; and of a unit with a workload of its
// own. A context's workload advances only while it is resident, so its counts do not depend on the schedule.
//   SyntheticSlice slice;
//   SIDEBAND_RETURN_IF_ERROR(slice.Add("vm1", "ctx0", std::move(workload)));
//   slice.SwitchIn("vm1", "ctx0", 1000);
//   slice.AddCounts({1000, 1511}, wires, sums);            // the context's own cycles 0 to 510
//   slice.SwitchMode(/*is_host=*/true, 1511, 1511);        // the hypervisor runs
//   slice.SwitchMode(/*is_host=*/false, 1550, 1511);       // the context's own cycle 511
//   slice.SwitchOut(1600);
//
// In a domain with another clock a workload advances in the cycles of that clock, of which it has own cycles apart from
// those of other domains: its work takes longer where the clock is slower.
//
// A unit's work may be independent of the resident (PCIe, NVLink, memory controller).
//   const SteadyWorkload unit(std::move(unit_workload));
//   unit.AddCounts({0, 511}, wires, sums);
#ifndef SIDEBAND_SIM_WORKLOAD_SYNTHETIC_SLICE_H_
#define SIDEBAND_SIM_WORKLOAD_SYNTHETIC_SLICE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "sim/wires/domain_clock.h"
#include "sim/wires/wire_source.h"
#include "sim/workload/workload.h"

namespace sideband::sim {

// The work of residents and of the hypervisor on a slice in the cycles of one clock: the part of SyntheticSlice for
// each of its clock domains. All cycles are of that clock. A workload's own cycles are those in which it has run.
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
  // The own cycles of both in a range of a slice's cycles. Each of the two stands still while the other works, so its
  // part of a range is a range, too.
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

// Not thread-safe.
class SyntheticSlice final : public WireSource {
 public:
  // Without clocks, the reference clock's domain alone.
  explicit SyntheticSlice(LocalClocks clocks = {}) : clocks_(std::move(clocks)), domains_(clocks_.domains()) {}
  SyntheticSlice(const SyntheticSlice&) = delete;
  SyntheticSlice& operator=(const SyntheticSlice&) = delete;

  // Sets the workload of the context (or, if `context` is empty, of the VM without a context) while resident.
  // ALREADY_EXISTS if it has a workload; INVALID_ARGUMENT if the number of wires differs from that of earlier
  // workloads.
  absl::Status Add(absl::string_view vm, absl::string_view context, Workload workload);

  // Sets the workload of the hypervisor, which advances while it runs, beside any resident. Without one it leaves the
  // wires at 0. INVALID_ARGUMENT as above.
  absl::Status SetHost(Workload workload);

  // Lets the hypervisor run also while the slice has no resident, as from cycle 0 on. To be called once, before any
  // switch.
  void LetHostRunAlone();

  // Like LocalClocks::Step, after all cycles that have been counted.
  void StepClock(size_t domain, Instant at, uint64_t hz) { clocks_.Step(domain, at, hz); }

  // Switches the current resident out at `cycle`. A context without a workload leaves the wires at 0.
  void SwitchIn(absl::string_view vm, absl::string_view context, uint64_t cycle) override;
  // Has no effect without a resident.
  void SwitchMode(bool is_host, uint64_t cycle, uint64_t now) override;
  void SwitchOut(uint64_t cycle) override;

  // Counts in the reference clock's domain.
  void AddCounts(CycleRange range, std::span<const WireId> wires, std::span<uint64_t> sums) const override {
    domains_[0].AddCounts(range, wires, sums);
  }
  void AddConsecutiveCounts(CycleRange range, WireId first, std::span<uint64_t> sums) const override {
    domains_[0].AddConsecutiveCounts(range, first, sums);
  }
  bool AddModeCounts(CycleRange range, bool is_host, std::span<const WireId> wires,
                     std::span<uint64_t> sums) const override {
    return domains_[0].AddModeCounts(range, is_host, wires, sums);
  }
  bool AddConsecutiveModeCounts(CycleRange range, bool is_host, WireId first, std::span<uint64_t> sums) const override {
    return domains_[0].AddConsecutiveModeCounts(range, is_host, first, sums);
  }
  bool Bit(WireId wire, uint64_t cycle) const { return domains_[0].Bit(wire, cycle); }

  const SliceDomain& domain(size_t index) const override { return domains_[index]; }
  uint64_t CyclesBefore(size_t domain, uint64_t cycle) const override { return clocks_.CyclesBefore(domain, cycle); }
  uint64_t CyclesHeld(size_t domain, uint64_t end) const override { return clocks_.CyclesBefore(domain, end); }

  // The context's own cycles in its finished residencies; 0 for a context without a workload.
  uint64_t own_cycles(absl::string_view vm, absl::string_view context, size_t domain = 0) const;

 private:
  using Key = std::pair<std::string, std::string>;

  absl::Status CheckWires(const std::string& whose, const Workload& workload) const;

  LocalClocks clocks_;
  std::map<Key, Workload> contexts_;
  std::optional<Workload> host_;
  std::vector<SliceDomain> domains_;
};

// The cycles of the workload are those of the clock, in each domain those of the domain's. Context switches have no
// effect. Not thread-safe.
class SteadyWorkload final : public WireSource {
 public:
  explicit SteadyWorkload(Workload workload, LocalClocks clocks = {})
      : workload_(std::move(workload)), clocks_(std::move(clocks)) {}

  void AddCounts(CycleRange range, std::span<const WireId> wires, std::span<uint64_t> sums) const override {
    workload_.AddCounts(range, wires, sums);
  }
  void AddConsecutiveCounts(CycleRange range, WireId first, std::span<uint64_t> sums) const override {
    workload_.AddConsecutiveCounts(workload_.Locate(range), first, sums);
  }

  uint64_t CyclesBefore(size_t domain, uint64_t cycle) const override { return clocks_.CyclesBefore(domain, cycle); }
  uint64_t CyclesHeld(size_t domain, uint64_t end) const override { return clocks_.CyclesBefore(domain, end); }

  // Like LocalClocks::Step, after all cycles that have been counted.
  void StepClock(size_t domain, Instant at, uint64_t hz) { clocks_.Step(domain, at, hz); }

  // Whether the wire is 1 in a cycle.
  bool Bit(WireId wire, uint64_t cycle) const { return workload_.Bit(wire, cycle); }

 private:
  const Workload workload_;
  LocalClocks clocks_;
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WORKLOAD_SYNTHETIC_SLICE_H_
