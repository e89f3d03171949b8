// SPDX-License-Identifier: Apache-2.0
#include "proto/attestation/vcek.h"

#include <openssl/objects.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/bytes.h"
#include "proto/base/openssl.h"
#include "proto/base/status_macros.h"

namespace sideband::attestation {
namespace {

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
