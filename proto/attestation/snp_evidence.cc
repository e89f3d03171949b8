// SPDX-License-Identifier: Apache-2.0
#include "proto/attestation/snp_evidence.h"

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/objects.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/bytes.h"
#include "proto/base/openssl.h"
#include "proto/base/status_macros.h"

namespace sideband::attestation {
namespace {

constexpr size_t kSignatureEnd = kSnpSignedBytes + 2 * sizeof(SnpNumber);
static_assert(kSignatureEnd + 368 == kSnpReportBytes);

// The layout: calls field(offset, member) for each field. `Report` is SnpReport, const or not.
template <typename Report, typename Field>
void ForEachField(Report& report, Field field) {
  field(0x000, report.version);
  field(0x004, report.guest_svn);
  field(0x008, report.policy);
  field(0x010, report.family_id);
  field(0x020, report.image_id);
  field(0x030, report.vmpl);
  field(0x034, report.signature_algorithm);
  field(0x038, report.current_tcb);
  field(0x040, report.platform_info);
  field(0x048, report.flags);
  field(0x050, report.report_data);
  field(0x090, report.measurement);
  field(0x0C0, report.host_data);
  field(0x0E0, report.id_key_digest);
  field(0x110, report.author_key_digest);
  field(0x140, report.report_id);
  field(0x160, report.report_id_ma);
  field(0x180, report.reported_tcb);
  field(0x1A0, report.chip_id);
  field(0x1E0, report.committed_tcb);
  field(0x1E8, report.current_version);
  field(0x1EC, report.committed_version);
  field(0x1F0, report.launch_tcb);
  field(kSnpSignedBytes, report.r);
  field(kSnpSignedBytes + sizeof(SnpNumber), report.s);
}

void Read(ByteReader& in, uint32_t& out) { out = in.U32(); }
void Read(ByteReader& in, uint64_t& out) { out = in.U64(); }

template <size_t kSize>
void Read(ByteReader& in, std::array<uint8_t, kSize>& out) {
  std::ranges::copy(in.Raw(kSize), out.begin());
}

void Read(ByteReader& in, TcbVersion& out) {
  std::array<uint8_t, 8> bytes{};
  Read(in, bytes);
  out = {.boot_loader = bytes[0], .tee = bytes[1], .snp = bytes[6], .microcode = bytes[7]};
}

void Read(ByteReader& in, FirmwareVersion& out) {
  out.build = in.U8();
  out.minor = in.U8();
  out.major = in.U8();
}

void Write(uint32_t value, ByteWriter& out) { out.U32(value); }
void Write(uint64_t value, ByteWriter& out) { out.U64(value); }

template <size_t kSize>
void Write(const std::array<uint8_t, kSize>& bytes, ByteWriter& out) {
  out.Raw(bytes);
}

void Write(const TcbVersion& tcb, ByteWriter& out) {
  Write(std::array<uint8_t, 8>{tcb.boot_loader, tcb.tee, 0, 0, 0, 0, tcb.snp, tcb.microcode}, out);
}

void Write(const FirmwareVersion& version, ByteWriter& out) {
  out.U8(version.build);
  out.U8(version.minor);
  out.U8(version.major);
}

using SignaturePtr = std::unique_ptr<ECDSA_SIG, OpensslDeleter<ECDSA_SIG_free>>;

constexpr size_t kNumberBytes = 48;

// DER; empty for numbers that are too long.
Bytes SignatureToDer(const SnpNumber& r, const SnpNumber& s) {
  const auto is_zero = [](uint8_t byte) { return byte == 0; };
  const auto fits = [&](const SnpNumber& number) {
    return std::all_of(number.begin() + kNumberBytes, number.end(), is_zero);
  };
  const SignaturePtr signature(ECDSA_SIG_new());
  if (!fits(r) || !fits(s) || signature == nullptr) return {};
  // The signature owns its numbers.
  ECDSA_SIG_set0(signature.get(), BN_lebin2bn(r.data(), kNumberBytes, nullptr),
                 BN_lebin2bn(s.data(), kNumberBytes, nullptr));
  const int size = i2d_ECDSA_SIG(signature.get(), nullptr);
  if (size <= 0) return {};
  Bytes der(static_cast<size_t>(size));
  uint8_t* out = der.data();
  i2d_ECDSA_SIG(signature.get(), &out);
  return der;
}

SnpNumber FromBigNumber(const BIGNUM* number) {
  SnpNumber out{};
  BN_bn2lebinpad(number, out.data(), static_cast<int>(out.size()));
  return out;
}

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
  // An issued certificate has the bytes themselves as the extension's value; by ASN.1 they would be wrapped.
  const bool is_wrapped =
      value && value->size() == chip.size() + 2 && (*value)[0] == V_ASN1_OCTET_STRING && (*value)[1] == chip.size();
  if (is_wrapped) value = value->subspan(2);
  if (!value || value->size() != chip.size()) return absl::InvalidArgumentError("the VCEK does not name its chip");
  std::ranges::copy(*value, chip.begin());
  return chip;
}

}  // namespace

absl::StatusOr<SnpReport> ParseSnpReport(ByteSpan bytes) {
  if (bytes.size() != kSnpReportBytes) return absl::InvalidArgumentError("SEV-SNP report of a wrong length");
  SnpReport report;
  ForEachField(report, [&](size_t offset, auto& field) {
    ByteReader in(bytes.subspan(offset));
    Read(in, field);
  });
  if (report.version < kSnpReportVersionMin || report.version > kSnpReportVersionMax) {
    return absl::InvalidArgumentError("SEV-SNP report of an unknown version");
  }
  // Outside what is signed: it would let a report have many forms.
  if (std::ranges::any_of(bytes.subspan(kSignatureEnd), [](uint8_t byte) { return byte != 0; })) {
    return absl::InvalidArgumentError("SEV-SNP report with something behind its signature");
  }
  return report;
}

Bytes EncodeSnpReport(const SnpReport& report) {
  Bytes bytes(kSnpReportBytes);
  ForEachField(report, [&](size_t offset, const auto& field) {
    ByteWriter out;
    Write(field, out);
    std::ranges::copy(out.written(), bytes.begin() + static_cast<ptrdiff_t>(offset));
  });
  return bytes;
}

bool IsOnP384(const EVP_PKEY* key) {
  char curve[32] = {};
  return key != nullptr && EVP_PKEY_get_base_id(key) == EVP_PKEY_EC &&
         EVP_PKEY_get_group_name(key, curve, sizeof(curve), nullptr) == 1 && absl::string_view(curve) == "secp384r1";
}

bool IsSigned(EVP_PKEY* key, ByteSpan text, const SnpNumber& r, const SnpNumber& s) {
  if (!IsOnP384(key)) return false;
  const Bytes der = SignatureToDer(r, s);
  const DigestContextPtr context(EVP_MD_CTX_new());
  const bool is_signed = !der.empty() && context != nullptr &&
                         EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha384(), nullptr, key) == 1 &&
                         EVP_DigestVerify(context.get(), der.data(), der.size(), text.data(), text.size()) == 1;
  ERR_clear_error();
  return is_signed;
}

absl::StatusOr<std::pair<SnpNumber, SnpNumber>> SignP384(EVP_PKEY* key, ByteSpan text) {
  const DigestContextPtr context(EVP_MD_CTX_new());
  size_t size = static_cast<size_t>(EVP_PKEY_get_size(key));
  Bytes der(size);
  if (!IsOnP384(key) || context == nullptr ||
      EVP_DigestSignInit(context.get(), nullptr, EVP_sha384(), nullptr, key) != 1 ||
      EVP_DigestSign(context.get(), der.data(), &size, text.data(), text.size()) != 1) {
    return absl::InternalError("OpenSSL cannot sign on P-384");
  }
  const uint8_t* in = der.data();
  const SignaturePtr signature(d2i_ECDSA_SIG(nullptr, &in, static_cast<long>(size)));
  return std::pair(FromBigNumber(ECDSA_SIG_get0_r(signature.get())), FromBigNumber(ECDSA_SIG_get0_s(signature.get())));
}

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
