// SPDX-License-Identifier: Apache-2.0
//
// Quotients that are rounded to a known side, so that a bound stays a bound.
//   FloorQuotient(-7, 2);   // -4
//   CeilQuotient(-7, 2);    // -3
#ifndef SIDEBAND_PROTO_CLOCKS_OUTWARD_H_
#define SIDEBAND_PROTO_CLOCKS_OUTWARD_H_

#include "absl/numeric/int128.h"

namespace sideband::clocks {

// `divisor` is above 0.
inline absl::int128 FloorQuotient(absl::int128 value, absl::int128 divisor) {
  const absl::int128 quotient = value / divisor;
  return quotient * divisor > value ? quotient - 1 : quotient;
}

inline absl::int128 CeilQuotient(absl::int128 value, absl::int128 divisor) {
  const absl::int128 quotient = value / divisor;
  return quotient * divisor < value ? quotient + 1 : quotient;
}

}  // namespace sideband::clocks

#endif  // SIDEBAND_PROTO_CLOCKS_OUTWARD_H_
