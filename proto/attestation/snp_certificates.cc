// SPDX-License-Identifier: Apache-2.0
#include "proto/attestation/snp_certificates.h"

#include <openssl/objects.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/bytes.h"
#include "proto/base/openssl.h"
#include "proto/base/status_macros.h"

namespace sideband::attestation {
namespace {

using Guid = std::array<uint8_t, 16>;

constexpr size_t kEntryBytes = 24;

struct Row {
  Guid guid;  // in the order of the text, not in that of UEFI with its little-endian fields
  ByteSpan SnpCertificates::*certificate;
};

constexpr Row kRows[] = {
    // 63da758d-e664-4564-adc5-f4b93be8accd
    {{0x63, 0xda, 0x75, 0x8d, 0xe6, 0x64, 0x45, 0x64, 0xad, 0xc5, 0xf4, 0xb9, 0x3b, 0xe8, 0xac, 0xcd},
     &SnpCertificates::vcek},
    // 4ab7b379-bbac-4fe4-a02f-05aef327c782
    {{0x4a, 0xb7, 0xb3, 0x79, 0xbb, 0xac, 0x4f, 0xe4, 0xa0, 0x2f, 0x05, 0xae, 0xf3, 0x27, 0xc7, 0x82},
     &SnpCertificates::ask},
    // c0b406a4-a803-4952-9743-3fb6014cd0ae
    {{0xc0, 0xb4, 0x06, 0xa4, 0xa8, 0x03, 0x49, 0x52, 0x97, 0x43, 0x3f, 0xb6, 0x01, 0x4c, 0xd0, 0xae},
     &SnpCertificates::ark},
};

absl::Status Malformed() { return absl::InvalidArgumentError("SEV-SNP certificate table malformed"); }

// False for a second certificate of the same GUID.
bool Keep(const Guid& guid, ByteSpan certificate, SnpCertificates& out) {
  const auto row = std::ranges::find(kRows, guid, &Row::guid);
  if (row == std::end(kRows)) return true;
  ByteSpan& place = out.*row->certificate;
  if (place.data() != nullptr) return false;
  place = certificate;
  return true;
}

// The value of the extension; nullopt unless the certificate has exactly one.
std::optional<ByteSpan> ExtensionOf(const X509& certificate, const char* oid) {
  const Asn1ObjectPtr object(OBJ_txt2obj(oid, 1));
  const int index = X509_get_ext_by_OBJ(&certificate, object.get(), -1);
  if (index < 0 || X509_get_ext_by_OBJ(&certificate, object.get(), index) >= 0) return std::nullopt;
  const ASN1_OCTET_STRING* const value = X509_EXTENSION_get_data(X509_get_ext(&certificate, index));
  return ByteSpan(ASN1_STRING_get0_data(value), static_cast<size_t>(ASN1_STRING_length(value)));
}

absl::StatusOr<uint8_t> SmallInteger(const X509& certificate, const char* oid) {
  const auto value = ExtensionOf(certificate, oid);
  // DER: 128 and above have a leading zero.
  const bool is_short = value && value->size() == 3 && (*value)[1] == 1 && (*value)[2] < 0x80;
  const bool is_long = value && value->size() == 4 && (*value)[1] == 2 && (*value)[2] == 0 && (*value)[3] >= 0x80;
  if ((!is_short && !is_long) || (*value)[0] != V_ASN1_INTEGER) {
    return absl::InvalidArgumentError(absl::StrCat("the VCEK has no version in its extension ", oid));
  }
  return value->back();
}

absl::StatusOr<ChipId> ReadChip(const X509& certificate) {
  ChipId chip{};
  auto value = ExtensionOf(certificate, kVcekChip);
  // As they are issued, the bytes themselves are the extension's value; as ASN.1 has it, they would be wrapped.
  const bool is_wrapped =
      value && value->size() == chip.size() + 2 && (*value)[0] == V_ASN1_OCTET_STRING && (*value)[1] == chip.size();
  if (is_wrapped) value = value->subspan(2);
  if (!value || value->size() != chip.size()) return absl::InvalidArgumentError("the VCEK does not name its chip");
  std::ranges::copy(*value, chip.begin());
  return chip;
}

}  // namespace

absl::StatusOr<SnpCertificates> ParseCertificateTable(ByteSpan table) {
  if (table.size() > kTableBytesMax) return Malformed();
  SnpCertificates certificates;
  ByteReader in(table);
  for (size_t i = 0; i <= kTableEntriesMax; ++i) {
    Guid guid{};
    std::ranges::copy(in.Raw(guid.size()), guid.begin());
    const size_t offset = in.U32(), length = in.U32();
    if (!in.ok()) return Malformed();
    if (guid == Guid{}) return certificates;
    if (offset > table.size() || length > table.size() - offset) return Malformed();
    if (!Keep(guid, table.subspan(offset, length), certificates)) return Malformed();
  }
  return Malformed();
}

Bytes EncodeCertificateTable(const SnpCertificates& certificates) {
  ByteWriter entries, contents;
  const auto present = [&](const Row& row) { return !(certificates.*row.certificate).empty(); };
  const auto count = static_cast<size_t>(std::ranges::count_if(kRows, present));
  for (const Row& row : kRows) {
    if (!present(row)) continue;
    const ByteSpan certificate = certificates.*row.certificate;
    entries.Raw(row.guid);
    entries.U32(static_cast<uint32_t>((count + 1) * kEntryBytes + contents.size()));
    entries.U32(static_cast<uint32_t>(certificate.size()));
    contents.Raw(certificate);
  }
  entries.Raw(Bytes(kEntryBytes));
  entries.Raw(contents.written());
  return std::move(entries).Take();
}

absl::StatusOr<VcekSubject> SubjectOfVcek(const X509& certificate) {
  VcekSubject subject;
  SIDEBAND_ASSIGN_OR_RETURN(subject.tcb.boot_loader, SmallInteger(certificate, kVcekBootLoader));
  SIDEBAND_ASSIGN_OR_RETURN(subject.tcb.tee, SmallInteger(certificate, kVcekTee));
  SIDEBAND_ASSIGN_OR_RETURN(subject.tcb.snp, SmallInteger(certificate, kVcekSnp));
  SIDEBAND_ASSIGN_OR_RETURN(subject.tcb.microcode, SmallInteger(certificate, kVcekMicrocode));
  SIDEBAND_ASSIGN_OR_RETURN(subject.chip_id, ReadChip(certificate));
  return subject;
}

}  // namespace sideband::attestation
