// SPDX-License-Identifier: Apache-2.0
//
// Which slices' commits reach their blocks, as root registers and page tables are (pipeline.md, "Address spaces"),
// independently of the pipeline: a commit is done iff it finds the very blocks that it means.
//   LawsMmu mmu(test);
//   mmu.Switch(/*slice=*/0, /*tenant=*/4);     // binds the tenant's VM
//   mmu.BindVm(0, 2);
//   mmu.Loses(0, 4);                           // true: the tenant is of VM 1
#ifndef SIDEBAND_SECURE_MCU_LAWS_LAWS_MMU_H_
#define SIDEBAND_SECURE_MCU_LAWS_LAWS_MMU_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "secure_mcu/laws/laws_case.h"

namespace sideband::mcu {

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

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_LAWS_LAWS_MMU_H_
