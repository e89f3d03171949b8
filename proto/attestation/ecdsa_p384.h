// SPDX-License-Identifier: Apache-2.0
//
// ECDSA on P-384 with SHA-384, in the form that SEV-SNP reports have: R and S little-endian, zero-extended.
//   const bool is_genuine = IsSigned(vcek_key, bytes.first(kSnpSignedBytes), report.r, report.s);
#ifndef SIDEBAND_PROTO_ATTESTATION_ECDSA_P384_H_
#define SIDEBAND_PROTO_ATTESTATION_ECDSA_P384_H_

#include <openssl/evp.h>

#include <utility>

#include "absl/status/statusor.h"
#include "proto/attestation/snp_report.h"
#include "proto/base/bytes.h"

namespace sideband::attestation {

bool IsOnP384(const EVP_PKEY* key);

// False also for a key of another kind or curve, and for numbers of more than 48 bytes.
bool IsSigned(EVP_PKEY* key, ByteSpan text, const SnpNumber& r, const SnpNumber& s);

// INTERNAL if OpenSSL fails; the key must be on P-384.
absl::StatusOr<std::pair<SnpNumber, SnpNumber>> SignP384(EVP_PKEY* key, ByteSpan text);

}  // namespace sideband::attestation

#endif  // SIDEBAND_PROTO_ATTESTATION_ECDSA_P384_H_
