// SPDX-License-Identifier: Apache-2.0
//
// Which gate groups of a case's slices are open, cycle by cycle: the rules of virtual-counters.md, "Mechanism", written
// a second time, independently of the pipeline.
//   LawsGates gates(test);
//   gates.Switch(/*slice=*/0, /*tenant=*/4);    // whose VM then runs
//   gates.Exit(0);
//   gates.IsOpen(0, /*group=*/1);
#ifndef SIDEBAND_SECURE_MCU_LAWS_LAWS_GATES_H_
#define SIDEBAND_SECURE_MCU_LAWS_LAWS_GATES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "secure_mcu/laws/laws_case.h"

namespace sideband::mcu {

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

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_LAWS_LAWS_GATES_H_
