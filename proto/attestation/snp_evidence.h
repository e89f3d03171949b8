// SPDX-License-Identifier: Apache-2.0
//
// The evidence of AMD SEV-SNP: the attestation report, 1184 bytes (SEV Secure Nested Paging Firmware ABI Specification,
// publication 56860, "ATTESTATION_REPORT"), and the certificates that come with it, whose VCEK says of which chip and
// firmware it is.
//   SIDEBAND_ASSIGN_OR_RETURN(const SnpReport report, ParseSnpReport(bytes));
//   const ByteSpan signed_part = bytes.first(kSnpSignedBytes);
//   SIDEBAND_ASSIGN_OR_RETURN(const SnpCertificates certificates, ParseCertificateTable(table));
#ifndef SIDEBAND_PROTO_ATTESTATION_SNP_EVIDENCE_H_
#define SIDEBAND_PROTO_ATTESTATION_SNP_EVIDENCE_H_

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "proto/attestation/evidence.h"
#include "proto/base/bytes.h"

namespace sideband::attestation {

inline constexpr size_t kSnpReportBytes = 1184;
inline constexpr size_t kSnpSignedBytes = 0x2A0;
inline constexpr uint32_t kSnpReportVersionMin = 2;
inline constexpr uint32_t kSnpReportVersionMax = 5;
inline constexpr uint32_t kEcdsaP384Sha384 = 1;

// POLICY, bit 17, is always 1.
inline constexpr uint64_t kSnpPolicyReserved = uint64_t{1} << 17;
// POLICY, bit 18: the host may associate a migration agent, which gets the guest's memory.
inline constexpr uint64_t kSnpPolicyMigrate = uint64_t{1} << 18;
// POLICY, bit 19: the host may read the guest's memory.
inline constexpr uint64_t kSnpPolicyDebug = uint64_t{1} << 19;
// FLAGS, bits 4:2, SIGNING_KEY: 0 is the VCEK, 1 the VLEK (a cloud provider's), 7 none.
inline constexpr uint32_t kSnpFlagsSigningKey = 7u << 2;

using ChipId = std::array<uint8_t, 64>;
// R and S, little-endian, 48 bytes each and zeros behind.
using SnpNumber = std::array<uint8_t, 72>;

// BUILD, MINOR and MAJOR of the firmware.
struct FirmwareVersion {
  uint8_t build = 0, minor = 0, major = 0;
  bool operator==(const FirmwareVersion&) const = default;
};

// The fields of version 2. The additions of later versions (processor family, mitigation vectors) are signed, but not
// read.
struct SnpReport {
  uint32_t version = kSnpReportVersionMin;
  uint32_t guest_svn = 0;
  uint64_t policy = kSnpPolicyReserved;
  std::array<uint8_t, 16> family_id{};
  std::array<uint8_t, 16> image_id{};
  uint32_t vmpl = 0;
  uint32_t signature_algorithm = kEcdsaP384Sha384;
  TcbVersion current_tcb;
  uint64_t platform_info = 0;
  uint32_t flags = 0;
  ReportData report_data{};
  Measurement measurement{};
  HostData host_data{};
  std::array<uint8_t, 48> id_key_digest{};
  std::array<uint8_t, 48> author_key_digest{};
  std::array<uint8_t, 32> report_id{};
  std::array<uint8_t, 32> report_id_ma{};  // of the migration agent; all ones: none
  TcbVersion reported_tcb;                 // of which the VCEK is
  ChipId chip_id{};
  TcbVersion committed_tcb;
  FirmwareVersion current_version, committed_version;
  TcbVersion launch_tcb;
  SnpNumber r{}, s{};
  bool operator==(const SnpReport&) const = default;
};

// The bytes come from an untrusted peer. INVALID_ARGUMENT: another length, another version, or anything behind S.
absl::StatusOr<SnpReport> ParseSnpReport(ByteSpan bytes);
Bytes EncodeSnpReport(const SnpReport& report);

// The report's signature: ECDSA on P-384 with SHA-384.
//   const bool is_genuine = IsSigned(vcek_key, bytes.first(kSnpSignedBytes), report.r, report.s);
bool IsOnP384(const EVP_PKEY* key);

// False also for a key of another kind or curve, and for numbers of more than 48 bytes.
bool IsSigned(EVP_PKEY* key, ByteSpan text, const SnpNumber& r, const SnpNumber& s);

// INTERNAL if OpenSSL fails; the key must be on P-384.
absl::StatusOr<std::pair<SnpNumber, SnpNumber>> SignP384(EVP_PKEY* key, ByteSpan text);

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

#endif  // SIDEBAND_PROTO_ATTESTATION_SNP_EVIDENCE_H_
