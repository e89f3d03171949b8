// SPDX-License-Identifier: Apache-2.0
//
// The shortest processor time of several runs of some work: disturbances only add to a measurement. Time in which the
// core ran other threads is not counted.
//   BestTime best;
//   for (int round = 0; round < 9; ++round) best.Measure([&] { work(); });
//   best.seconds();
#ifndef SIDEBAND_TESTS_LAB_BENCH_STOPWATCH_H_
#define SIDEBAND_TESTS_LAB_BENCH_STOPWATCH_H_

#include <time.h>

#include <algorithm>
#include <limits>

namespace sideband::bench {

// Processor time of this thread, since an arbitrary start.
inline double ThreadSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// The work must take at least some microseconds, because reading the time is a system call.
template <typename Work>
double SecondsOf(const Work& work) {
  const double start = ThreadSeconds();
  work();
  return ThreadSeconds() - start;
}

// Not thread-safe.
class BestTime {
 public:
  template <typename Work>
  void Measure(const Work& work) {
    Take(SecondsOf(work));
  }
  void Take(double seconds) { seconds_ = std::min(seconds_, seconds); }

  // Infinite before the first measurement.
  double seconds() const { return seconds_; }

 private:
  double seconds_ = std::numeric_limits<double>::infinity();
};

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_LAB_BENCH_STOPWATCH_H_
