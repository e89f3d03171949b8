// SPDX-License-Identifier: Apache-2.0
//
// Formats a description as a tree for terminals and as JSON for programs; both contain the same numbers.
//   const std::string text = FormatTree(description);
#ifndef SIDEBAND_SECURE_MCU_DESCRIBE_FORMAT_H_
#define SIDEBAND_SECURE_MCU_DESCRIBE_FORMAT_H_

#include <string>

#include "secure_mcu/describe/description.h"

namespace sideband::mcu {

// The bus clocks for which the time of a snapshot read is shown.
inline constexpr uint64_t kBusClocksHz[] = {100'000, 400'000};

// Lines in UTF-8, each ending in a line break.
std::string FormatTree(const Description& description);
// One object and a line break.
std::string FormatJson(const Description& description);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_DESCRIBE_FORMAT_H_
