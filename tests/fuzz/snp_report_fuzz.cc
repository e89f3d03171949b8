// SPDX-License-Identifier: Apache-2.0
//
// An attestation report of AMD SEV-SNP. What was parsed survives encoding.
#include <algorithm>

#include "proto/attestation/snp_evidence.h"
#include "tests/fuzz/fuzz_target.h"

namespace sideband::fuzz {
namespace {

// Fields with different values, so that none can stand for another.
Bytes Numbered() {
  Bytes bytes = attestation::EncodeSnpReport({.version = attestation::kSnpReportVersionMax});
  for (size_t at = 4; at < attestation::kSnpSignedBytes; ++at) bytes[at] = static_cast<uint8_t>(at);
  return bytes;
}

std::vector<Bytes> Seeds() {
  attestation::SnpReport report{.policy = attestation::kSnpPolicyReserved | attestation::kSnpPolicyDebug};
  report.r.fill(0xFF);
  report.s.fill(1);
  return {attestation::EncodeSnpReport(report), Numbered()};
}

int RunInput(const uint8_t* data, size_t size) {
  const auto report = attestation::ParseSnpReport({data, size});
  if (!report.ok()) return 0;
  FUZZ_CHECK(size == attestation::kSnpReportBytes);
  const Bytes encoded = attestation::EncodeSnpReport(*report);
  const auto again = attestation::ParseSnpReport(encoded);
  FUZZ_CHECK(again.ok() && *again == *report);
  FUZZ_CHECK(
      std::equal(encoded.begin() + attestation::kSnpSignedBytes, encoded.end(), data + attestation::kSnpSignedBytes));
  return 0;
}

FUZZ_TARGET(snp_report_fuzz);

}  // namespace
}  // namespace sideband::fuzz
