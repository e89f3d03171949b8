// SPDX-License-Identifier: Apache-2.0
//
// A line of the table that `./dev bench` prints.
//   rows.push_back({"live: speed", 2.5, "x real time", "one core"});
#ifndef SIDEBAND_TESTS_LAB_BENCH_ROW_H_
#define SIDEBAND_TESTS_LAB_BENCH_ROW_H_

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

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_LAB_BENCH_ROW_H_
