// SPDX-License-Identifier: Apache-2.0
//
// Measurements of benchmarks. A row is a line of the table of `./dev bench`. A curve has measurements of growing
// sizes: the exponent of the cost, and the points in gnuplot's format. A time is the shortest processor time of several
// runs of some work: disturbances only add to a measurement. Time in which the core ran other threads is not counted.
//   rows.push_back({"live: speed", 2.5, "x real time", "one core"});
//   const Curve curve{"cycles", {{65536, 0.1}, {131072, 0.2}}};
//   Slope(curve);            // 1: the cost is linear
//   GnuplotData({&curve, 1});
//   BestTime best;
//   for (int round = 0; round < 9; ++round) best.Measure([&] { work(); });
//   best.seconds();
#ifndef SIDEBAND_TESTS_LAB_BENCH_MEASUREMENT_H_
#define SIDEBAND_TESTS_LAB_BENCH_MEASUREMENT_H_

#include <time.h>

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace sideband::bench {

struct Row {
  std::string name;
  double value;
  std::string unit;
  std::string note = "";
};

using Rows = std::vector<Row>;

// Both coordinates must be above 0.
struct Point {
  double x;
  double y;
};

struct Curve {
  std::string name;
  std::vector<Point> points;
};

// The best-fitting exponent e of y = c·x^e, by least squares of the logarithms. Requires at least two different x.
double Slope(const Curve& curve);

// A data set for each curve, with its name in quotes on the first line (`plot FILE index 0 title columnheader(1)`).
// Names must not require escaping.
std::string GnuplotData(std::span<const Curve> curves);

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

#endif  // SIDEBAND_TESTS_LAB_BENCH_MEASUREMENT_H_
