// SPDX-License-Identifier: Apache-2.0
//
// The cost of reading counters by registers: an access to the registers of a live device in this process, and five
// counters of a guest before and after, through a guest port of a served device.
//   SIDEBAND_ASSIGN_OR_RETURN(const Rows rows, MeasureHpcAccess("deploy/examples/chip.yaml", "/tmp/scratch"));
#ifndef SIDEBAND_TESTS_BENCH_HPC_ACCESS_H_
#define SIDEBAND_TESTS_BENCH_HPC_ACCESS_H_

#include <string>

#include "absl/status/statusor.h"
#include "tests/bench/row.h"

namespace sideband::bench {

// `chip` must have a VM "vm1" whose context "train" on slice 0 may read by registers. Sockets are made in the folder
// `scratch`. INTERNAL if a count decreases.
absl::StatusOr<Rows> MeasureHpcAccess(const std::string& chip, const std::string& scratch);

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_BENCH_HPC_ACCESS_H_
