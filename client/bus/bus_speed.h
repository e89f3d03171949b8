// SPDX-License-Identifier: Apache-2.0
//
// The clock rate of a bus in its command-line notation: 100k, 400k, 1M, or a number of Hz.
#ifndef SIDEBAND_CLIENT_BUS_BUS_SPEED_H_
#define SIDEBAND_CLIENT_BUS_BUS_SPEED_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sideband::client {

inline constexpr uint32_t kBusHzMin = 1'000;
inline constexpr uint32_t kBusHzMax = 10'000'000;

// INVALID_ARGUMENT for any other notation, and for rates outside the range.
absl::StatusOr<uint32_t> ParseBusSpeed(absl::string_view text);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_BUS_SPEED_H_
