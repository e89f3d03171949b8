// SPDX-License-Identifier: Apache-2.0
#include "proto/attestation/snp_report.h"

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>

#include <algorithm>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/base/openssl.h"

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

}  // namespace sideband::attestation
