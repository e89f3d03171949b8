// SPDX-License-Identifier: Apache-2.0
//
// Elapsed times, of work that others take part in; stopwatch.h has the processor's.
//   times.push_back(ElapsedUs([&] { Exchange(); }));
//   Median(times);
#ifndef SIDEBAND_TESTS_LAB_BENCH_ELAPSED_H_
#define SIDEBAND_TESTS_LAB_BENCH_ELAPSED_H_

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/time/time.h"
#include "proto/base/steady_time.h"

namespace sideband::bench {

// In microseconds, on the monotonic clock.
template <typename Work>
double ElapsedUs(const Work& work) {
  const absl::Duration start = SteadyNow();
  work();
  return absl::ToDoubleMicroseconds(SteadyNow() - start);
}

// Of at least one value; of an even number the greater of the two in the middle.
inline double Median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_LAB_BENCH_ELAPSED_H_
