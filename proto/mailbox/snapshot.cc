// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/snapshot.h"

#include <utility>

namespace sideband::mailbox {

std::vector<std::string> FlagNames(uint16_t flags) {
  constexpr std::pair<uint16_t, const char*> kNames[] = {{kFlagOverflow, "overflow"},
                                                         {kFlagTriggerOverrun, "trigger_overrun"},
                                                         {kFlagMmuFault, "mmu_fault"},
                                                         {kFlagEstimated, "estimated"},
                                                         {kFlagConfidentialExcluded, "confidential_excluded"},
                                                         {kFlagRotationInconsistent, "rotation_inconsistent"},
                                                         {kFlagPartial, "partial"}};
  std::vector<std::string> names;
  for (const auto& [flag, name] : kNames) {
    if ((flags & flag) != 0) names.push_back(name);
  }
  return names;
}

}  // namespace sideband::mailbox
