// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "secure_mcu/cli/commands.h"

namespace sideband::mcu {

absl::Status Print(absl::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) {
    return absl::OkStatus();
  }
  return absl::UnavailableError("cannot write to standard output");
}

}  // namespace sideband::mcu
