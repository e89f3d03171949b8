// SPDX-License-Identifier: Apache-2.0
//
// Scrapes over real connections: one beside prometheus-cpp's Exposer, and many at once.
//   SIDEBAND_ASSIGN_OR_RETURN(const Rows rows, MeasureScrapeLoad(folder));
#ifndef SIDEBAND_TESTS_BENCH_SCRAPE_LOAD_H_
#define SIDEBAND_TESTS_BENCH_SCRAPE_LOAD_H_

#include <string>

#include "absl/status/statusor.h"
#include "tests/bench/row.h"

namespace sideband::bench {

// Writes temporary certificates to `folder`, which must exist. Takes about half a minute.
absl::StatusOr<Rows> MeasureScrapeLoad(const std::string& folder);

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_BENCH_SCRAPE_LOAD_H_
