// SPDX-License-Identifier: Apache-2.0
//
// The extensions of a VCEK certificate, which say of which chip and firmware it is. (AMD, "Versioned Chip Endorsement
// Key (VCEK) Certificate and KDS Interface Specification", publication 57230.)
//   SIDEBAND_ASSIGN_OR_RETURN(const VcekSubject subject, SubjectOfVcek(*certificate));
#ifndef SIDEBAND_PROTO_ATTESTATION_VCEK_H_
#define SIDEBAND_PROTO_ATTESTATION_VCEK_H_

#include <openssl/x509.h>

#include "absl/status/statusor.h"
#include "proto/attestation/evidence.h"
#include "proto/attestation/snp_report.h"

namespace sideband::attestation {

// Object identifiers of the extensions.
inline constexpr char kVcekStructure[] = "1.3.6.1.4.1.3704.1.1";  // the version of these extensions; not read
inline constexpr char kVcekProduct[] = "1.3.6.1.4.1.3704.1.2";    // not read
inline constexpr char kVcekBootLoader[] = "1.3.6.1.4.1.3704.1.3.1";
inline constexpr char kVcekTee[] = "1.3.6.1.4.1.3704.1.3.2";
inline constexpr char kVcekSnp[] = "1.3.6.1.4.1.3704.1.3.3";
inline constexpr char kVcekMicrocode[] = "1.3.6.1.4.1.3704.1.3.8";
inline constexpr char kVcekChip[] = "1.3.6.1.4.1.3704.1.4";

struct VcekSubject {
  TcbVersion tcb;
  ChipId chip_id{};
  bool operator==(const VcekSubject&) const = default;
};

// INVALID_ARGUMENT if an extension is absent, malformed or there twice.
absl::StatusOr<VcekSubject> SubjectOfVcek(const X509& certificate);

}  // namespace sideband::attestation

#endif  // SIDEBAND_PROTO_ATTESTATION_VCEK_H_
