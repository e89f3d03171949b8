// SPDX-License-Identifier: Apache-2.0
//
// The expected content of a case's memory blocks, counted cycle by cycle from the wires and the residencies,
// independently of the pipeline.
//   LawsTruth truth(test);
//   truth.Switch(/*slice=*/0, /*tenant=*/1);
//   truth.CountTo(100);
//   truth.Block(BlockOf(1));
#ifndef SIDEBAND_TESTS_LAB_LAWS_LAWS_TRUTH_H_
#define SIDEBAND_TESTS_LAB_LAWS_LAWS_TRUTH_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tests/lab/laws/laws_case.h"

namespace sideband::mcu {

// Which gate groups of a case's slices are open, cycle by cycle: the rules of virtual-counters.md, "Mechanism", written
// a second time, independently of the pipeline.
class LawsGates {
 public:
  explicit LawsGates(const LawsCase& test);

  void Exit(uint32_t slice);
  void Enter(uint32_t slice);
  void Switch(uint32_t slice, std::optional<uint32_t> tenant);
  // An idle slice keeps its host's value.
  void Write(uint32_t slice, const CaseValue& value) {
    if (slices_[slice].tenant) slices_[slice].global = value;
  }
  void WriteContext(uint32_t slice, const CaseValue& value) { slices_[slice].of_context = value; }

  // Turns the list of selections by one, for residents at once.
  void TurnSelections();

  bool is_guest(uint32_t slice) const { return slices_[slice].is_guest; }
  // Whether the resident's selection has the event.
  bool IsSelected(uint32_t slice, uint32_t event) const { return (slices_[slice].selected >> event & 1) != 0; }
  bool IsOpen(uint32_t slice, uint32_t group) const;

 private:
  struct Slice {
    std::optional<uint32_t> tenant;
    bool is_guest = false;
    CaseValue global, of_context;
    uint32_t selected = 0;  // events
  };

  uint32_t SelectionOf(std::optional<uint32_t> tenant) const;

  const LawsCase& test_;
  std::vector<CaseVm> vms_;
  std::vector<CaseContext> contexts_;  // per tenant
  std::vector<Slice> slices_;
  std::vector<uint32_t> selections_;
  std::vector<uint32_t> selectable_;  // events, per group
};

// Which slices' commits reach their blocks, as root registers and page tables are (pipeline.md, "Address spaces"),
// independently of the pipeline: a commit is done iff it finds the very blocks that it means.
class LawsMmu {
 public:
  // Every entry names its own block.
  explicit LawsMmu(const LawsCase& test);

  void Switch(uint32_t slice, std::optional<uint32_t> tenant) {
    roots_[slice] = tenant ? std::optional(VmOf(*tenant)) : std::nullopt;
  }
  // nullopt: no VM's table.
  void BindVm(uint32_t slice, std::optional<uint32_t> vm) { roots_[slice] = vm; }
  // The entry of the tenant's page names a block; nullopt: it is not valid.
  void SetEntry(uint32_t tenant, std::optional<size_t> block) { entries_[tenant] = block; }
  bool IsSpoilt(uint32_t tenant) const { return entries_[tenant] != BlockOf(tenant); }

  // Whether commits of the slice, of which `tenant` is the resident, go nowhere.
  bool Loses(uint32_t slice, uint32_t tenant) const;

 private:
  std::vector<std::optional<uint32_t>> roots_;  // per slice
  std::vector<std::optional<size_t>> entries_;  // per tenant
};

using EventCounts = std::vector<uint64_t>;
void AddTo(EventCounts& sums, const EventCounts& more);

class LawsTruth {
 public:
  explicit LawsTruth(const LawsCase& test);

  // Counts the cycles of every clock up to the reference cycle.
  void CountTo(uint64_t cycle);
  // Counts also the cycles of other clocks that the wires already hold of the next reference cycle.
  void CountWithinCycle();
  void Switch(uint32_t slice, std::optional<uint32_t> tenant);
  // To be told of exits, entries and values; switches are told by Switch.
  LawsGates& gates() { return gates_; }
  // To be told of roots and entries; switches are told by Switch. A change concerns what is counted from now on: it
  // must come right after a latch.
  template <typename Change>
  void ChangeMmu(const Change& change) {
    change(mmu_);
    for (Stay& stay : stays_) FollowMmu(stay);
  }
  const LawsMmu& mmu() const { return mmu_; }
  // Latches nothing: turns by one the selections of the events that are counted from now on.
  void TurnSelections() { gates_.TurnSelections(); }
  // Restarts the counts of a tenant, which must not be resident, at 0.
  void Renew(uint32_t tenant) { settled_[BlockOf(tenant)].assign(test_.events, 0); }

  std::optional<uint32_t> resident(uint32_t slice) const { return stays_[slice].tenant; }
  bool IsResident(uint32_t tenant) const;  // a VM is resident with any of its contexts
  // The slice's commits go nowhere now.
  bool IsLost(uint32_t slice) const { return stays_[slice].lost_since.has_value(); }

  // Counts since the block's last renewal.
  EventCounts Block(size_t block) const;
  // Counts of a VM without a context, and of the device-scope units, over all generations.
  EventCounts WithoutContext(uint32_t vm) const;
  EventCounts Device() const { return Of(stays_[test_.device()]); }
  // Counts that have gone nowhere: the hypervisor's block alone has them.
  EventCounts Lost() const;

 private:
  // The resident of a channel, and the sums of the channel's inputs since the residency began.
  struct Stay {
    uint32_t channel;
    std::optional<uint32_t> tenant;
    std::vector<uint64_t> sums;
    std::vector<uint64_t> passed;           // per domain, the next cycle to count
    EventCounts lost;                       // went nowhere, up to `lost_since`
    std::optional<EventCounts> lost_since;  // while commits go nowhere: what was counted before
  };

  bool HasCounter(const Stay& stay, size_t input) const;
  void AddInput(const Stay& stay, size_t input, EventCounts& counts) const;
  bool IsOpen(const Stay& stay, const CaseInput& input) const;
  void CountDomain(Stay& stay, uint32_t domain, uint64_t end);
  void AddCycle(Stay& stay, uint32_t domain, uint64_t cycle);
  bool Counts(const Stay& stay) const {
    return stay.channel == test_.device() || stay.tenant.has_value() || test_.host_blocks;
  }
  EventCounts Of(const Stay& stay) const;
  EventCounts LostOf(const Stay& stay) const;
  EventCounts ArrivedOf(const Stay& stay) const;
  void FollowMmu(Stay& stay) const;
  bool Touches(const Stay& stay, size_t block) const;
  bool IsPrivate(const Stay& stay) const { return stay.tenant && test_.vms[VmOf(*stay.tenant)].is_private; }
  uint64_t Before(uint32_t domain, uint64_t cycle) const { return before_[domain][cycle]; }

  const LawsCase& test_;
  std::vector<std::vector<uint64_t>> before_;   // per domain and reference cycle
  std::vector<std::vector<CaseInput>> inputs_;  // per channel
  std::vector<std::vector<uint32_t>> domains_;  // of the inputs
  std::vector<std::vector<bool>> switched_;     // whether an input is one of a switched unit
  LawsGates gates_;
  LawsMmu mmu_;
  uint64_t now_ = 0;
  std::vector<Stay> stays_;                   // per channel
  std::vector<EventCounts> settled_;          // per block, of completed stays
  std::vector<EventCounts> without_context_;  // per VM, of completed stays
  EventCounts lost_;                          // of completed stays
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_TESTS_LAB_LAWS_LAWS_TRUTH_H_
