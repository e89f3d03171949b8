// SPDX-License-Identifier: Apache-2.0
//
// The values of the last minute, one a second.
//   Minute minute;
//   minute.Add(now, 0.41);
//   for (const double value : minute.Until(now, interval)) Draw(value);   // NaN: unknown
#ifndef SIDEBAND_CLIENT_TOP_MINUTE_H_
#define SIDEBAND_CLIENT_TOP_MINUTE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"

namespace sideband::client::top {

class Minute {
 public:
  static constexpr size_t kSeconds = 60;

  Minute();
  // The newest value of a second replaces an earlier one. Values older than a minute before the newest are dropped.
  void Add(absl::Time time, double value);
  // kSeconds values, the oldest first, up to the second of `now`. A value holds for `hold`, until the next one comes;
  // NaN elsewhere.
  std::vector<double> Until(absl::Time now, absl::Duration hold) const;

 private:
  std::array<float, kSeconds> values_;  // by second modulo kSeconds
  int64_t newest_ = 0;                  // seconds since 1970
};

}  // namespace sideband::client::top

#endif  // SIDEBAND_CLIENT_TOP_MINUTE_H_
