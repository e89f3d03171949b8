// SPDX-License-Identifier: Apache-2.0
//
// A description for a person and for a program; both show the same numbers.
//   const std::string text = FormatTree(description);
#ifndef SIDEBAND_SECURE_MCU_DESCRIBE_FORMAT_H_
#define SIDEBAND_SECURE_MCU_DESCRIBE_FORMAT_H_

#include <string>

#include "secure_mcu/describe/description.h"

namespace sideband::mcu {

// Clock rates of the bus for which reading a snapshot is shown.
inline constexpr uint64_t kBusClocksHz[] = {100'000, 400'000};

// Lines, UTF-8, ending in a line break.
std::string FormatTree(const Description& description);
// One object, ending in a line break.
std::string FormatJson(const Description& description);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_DESCRIBE_FORMAT_H_
