// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/laws/laws_mmu.h"

namespace sideband::mcu {

LawsMmu::LawsMmu(const LawsCase& test) : roots_(test.slices) {
  for (uint32_t tenant = 0; tenant < kTenants; ++tenant) entries_.push_back(BlockOf(tenant));
}

// A context's commit needs its VM's block, too.
bool LawsMmu::Loses(uint32_t slice, uint32_t tenant) const {
  if (!roots_[slice]) return true;
  const uint32_t place = tenant % kPlacesOfVm, table = *roots_[slice] * kPlacesOfVm;
  return entries_[table + place] != BlockOf(tenant) || entries_[table] != BlockOf(tenant - place);
}

}  // namespace sideband::mcu
