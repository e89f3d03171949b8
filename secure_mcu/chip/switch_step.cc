// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/switch_step.h"

#include <array>

namespace sideband::mcu {

absl::string_view SwitchStepName(SwitchStep step) {
  constexpr std::array<const char*, kSwitchSteps> kNames = {
      "halt", "pause", "trigger", "flush_request", "emit", "commit", "rebind", "poll", "restore", "unpause", "run"};
  return kNames[static_cast<size_t>(step) - 1];
}

}  // namespace sideband::mcu
