// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/snapshot.h"

#include <iterator>

namespace sideband::mailbox {

std::vector<std::string> FlagNames(uint16_t flags) {
  constexpr const char* kNames[] = {"overflow", "trigger_overrun", "mmu_fault", "estimated", "confidential_excluded"};
  std::vector<std::string> names;
  for (size_t bit = 0; bit < std::size(kNames); ++bit) {
    if ((flags >> bit & 1) != 0) names.push_back(kNames[bit]);
  }
  return names;
}

}  // namespace sideband::mailbox
