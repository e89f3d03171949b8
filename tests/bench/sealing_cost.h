// SPDX-License-Identifier: Apache-2.0
//
// What sealing costs: processor time of records and exchanges, and a device's bus.
//   SIDEBAND_ASSIGN_OR_RETURN(const Rows rows, MeasureSealingCost("deploy/examples/chip.yaml", scratch));
#ifndef SIDEBAND_TESTS_BENCH_SEALING_COST_H_
#define SIDEBAND_TESTS_BENCH_SEALING_COST_H_

#include <string>

#include "absl/status/statusor.h"
#include "tests/bench/row.h"

namespace sideband::bench {

// Records: the speed of SealRecord relative to OpenSSL's EVP interface alone, which is initialised anew for each record
// of the same size; and contexts per second on one core, with 32 events, from blocks to records. An exchange: processor
// time of the sealer, with evidence of SEV-SNP and its chain. The bus: the bytes of snapshots of the
// chip's device if it seals, relative to those if it does not. Files of keys are written into `scratch`.
absl::StatusOr<Rows> MeasureSealingCost(const std::string& chip_file, const std::string& scratch);

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_BENCH_SEALING_COST_H_
