// SPDX-License-Identifier: Apache-2.0
//
// The certificates that come with an SEV-SNP report: the table that has them, and the extensions of a VCEK certificate,
// which say of which chip and firmware it is.
//   SIDEBAND_ASSIGN_OR_RETURN(const SnpCertificates certificates, ParseCertificateTable(table));
#ifndef SIDEBAND_PROTO_ATTESTATION_SNP_CERTIFICATES_H_
#define SIDEBAND_PROTO_ATTESTATION_SNP_CERTIFICATES_H_

#include <openssl/x509.h>

#include <cstddef>

#include "absl/status/statusor.h"
#include "proto/attestation/evidence.h"
#include "proto/attestation/snp_report.h"
#include "proto/base/bytes.h"

namespace sideband::attestation {

// The table, as SNP_GET_EXT_REPORT and Linux' configfs-tsm (`auxblob`) give it: entries of a GUID, an offset and a
// length, ended by one of zeros, and what they refer to. (GHCB specification, publication 56421, "SNP Extended Guest
// Request".)
inline constexpr size_t kTableEntriesMax = 16;  // without the end
inline constexpr size_t kTableBytesMax = 16 << 10;

// DER, as views into the table; empty where the table has none.
struct SnpCertificates {
  ByteSpan vcek;  // of the chip and its firmware
  ByteSpan ask;   // of its signer
  ByteSpan ark;   // of the signer's signer: to be looked at, never to be trusted, for a verifier has its own
};

// The table comes from an untrusted peer. INVALID_ARGUMENT: no end, more than kTableEntriesMax entries or
// kTableBytesMax bytes, a certificate twice, or an entry that refers beyond the table. Entries may overlap; those of
// other GUIDs are skipped.
absl::StatusOr<SnpCertificates> ParseCertificateTable(ByteSpan table);
// The certificates that are not empty. They must fit in kTableBytesMax.
Bytes EncodeCertificateTable(const SnpCertificates& certificates);

// The object identifiers of a VCEK's extensions. (AMD, "Versioned Chip Endorsement Key (VCEK) Certificate and KDS
// Interface Specification", publication 57230.)
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

#endif  // SIDEBAND_PROTO_ATTESTATION_SNP_CERTIFICATES_H_
