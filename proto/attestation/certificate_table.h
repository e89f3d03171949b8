// SPDX-License-Identifier: Apache-2.0
//
// The certificates that come with an SEV-SNP report, as SNP_GET_EXT_REPORT and Linux' configfs-tsm (`auxblob`) give
// them: entries of a GUID, an offset and a length, ended by one of zeros, and what they refer to. (GHCB specification,
// publication 56421, "SNP Extended Guest Request".)
//   SIDEBAND_ASSIGN_OR_RETURN(const SnpCertificates certificates, ParseCertificateTable(table));
#ifndef SIDEBAND_PROTO_ATTESTATION_CERTIFICATE_TABLE_H_
#define SIDEBAND_PROTO_ATTESTATION_CERTIFICATE_TABLE_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "proto/base/bytes.h"

namespace sideband::attestation {

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

}  // namespace sideband::attestation

#endif  // SIDEBAND_PROTO_ATTESTATION_CERTIFICATE_TABLE_H_
