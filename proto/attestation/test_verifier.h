// SPDX-License-Identifier: Apache-2.0
//
// Evidence for tests: a measurement (48 bytes) and report data (64 bytes), without a signature.
//   SIDEBAND_ASSIGN_OR_RETURN(const std::unique_ptr<Verifier> verifier, NewTestVerifier());
#ifndef SIDEBAND_PROTO_ATTESTATION_TEST_VERIFIER_H_
#define SIDEBAND_PROTO_ATTESTATION_TEST_VERIFIER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "proto/attestation/evidence.h"

namespace sideband::attestation {

// FAILED_PRECONDITION in an optimised build (NDEBUG), as those that are installed are.
absl::StatusOr<std::unique_ptr<Verifier>> NewTestVerifier();

Bytes TestEvidence(const Measurement& measurement, const ReportData& report_data);

}  // namespace sideband::attestation

#endif  // SIDEBAND_PROTO_ATTESTATION_TEST_VERIFIER_H_
