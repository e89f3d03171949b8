// SPDX-License-Identifier: Apache-2.0
#include "proto/attestation/evidence.h"

#include <openssl/crypto.h>

namespace sideband::attestation {

const char* EvidenceName(EvidenceKind kind) {
  switch (kind) {
    case EvidenceKind::kTest:
      return "test";
    case EvidenceKind::kSevSnp:
      return "sev_snp";
  }
  return "unknown";
}

bool IsBoundTo(const ReportData& expected, const ReportData& found) {
  return CRYPTO_memcmp(expected.data(), found.data(), expected.size()) == 0;
}

}  // namespace sideband::attestation
