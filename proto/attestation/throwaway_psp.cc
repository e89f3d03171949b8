// SPDX-License-Identifier: Apache-2.0
#include "proto/attestation/throwaway_psp.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <sys/stat.h>

#include <cerrno>
#include <functional>
#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/attestation/snp_evidence.h"
#include "proto/base/bytes.h"
#include "proto/base/file.h"
#include "proto/base/openssl.h"
#include "proto/base/status_macros.h"

namespace sideband::attestation {
namespace {

constexpr long kDay = 24 * 60 * 60;
constexpr char kArkName[] = "ARK-Throwaway";
constexpr char kAskName[] = "SEV-Throwaway";
constexpr char kProduct[] = "Throwaway-B0";

bool SetName(X509_NAME* name, absl::string_view common_name) {
  return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                    reinterpret_cast<const unsigned char*>(common_name.data()),
                                    static_cast<int>(common_name.size()), -1, 0) == 1;
}

// Without extensions and signature; nullptr if OpenSSL fails.
CertificatePtr Draft(absl::string_view subject, absl::string_view issuer, EVP_PKEY* key) {
  CertificatePtr certificate(X509_new());
  const bool is_made = certificate != nullptr && X509_set_version(certificate.get(), X509_VERSION_3) == 1 &&
                       ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1) == 1 &&
                       X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -kDay) != nullptr &&
                       X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 30 * kDay) != nullptr &&
                       SetName(X509_get_subject_name(certificate.get()), subject) &&
                       SetName(X509_get_issuer_name(certificate.get()), issuer) &&
                       X509_set_pubkey(certificate.get(), key) == 1;
  return is_made ? std::move(certificate) : nullptr;
}

bool AddExtension(X509& certificate, int kind, const char* value) {
  const ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, nullptr, kind, value));
  return extension != nullptr && X509_add_ext(&certificate, extension.get(), -1) == 1;
}

bool AddRaw(X509& certificate, const char* oid, ByteSpan value) {
  const Asn1ObjectPtr object(OBJ_txt2obj(oid, 1));
  const Asn1OctetsPtr octets(ASN1_OCTET_STRING_new());
  if (object == nullptr || octets == nullptr ||
      ASN1_OCTET_STRING_set(octets.get(), value.data(), static_cast<int>(value.size())) != 1) {
    return false;
  }
  const ExtensionPtr extension(X509_EXTENSION_create_by_OBJ(nullptr, object.get(), 0, octets.get()));
  return extension != nullptr && X509_add_ext(&certificate, extension.get(), -1) == 1;
}

// DER of fewer than 128 bytes.
Bytes Wrap(uint8_t tag, ByteSpan content) {
  ByteWriter out;
  out.U8(tag);
  out.U8(static_cast<uint8_t>(content.size()));
  out.Raw(content);
  return std::move(out).Take();
}

bool AddVersion(X509& certificate, const char* oid, uint8_t version) {
  const Bytes content = version < 0x80 ? Bytes{version} : Bytes{0, version};
  return AddRaw(certificate, oid, Wrap(V_ASN1_INTEGER, content));
}

bool AddSubject(X509& certificate, const VcekSubject& subject, bool is_chip_id_wrapped) {
  const ByteSpan chip(subject.chip_id);
  const Bytes wrapped = Wrap(V_ASN1_OCTET_STRING, chip);
  return AddVersion(certificate, kVcekStructure, 0) &&
         AddRaw(certificate, kVcekProduct, Wrap(V_ASN1_IA5STRING, AsBytes(std::string(kProduct)))) &&
         AddVersion(certificate, kVcekBootLoader, subject.tcb.boot_loader) &&
         AddVersion(certificate, kVcekTee, subject.tcb.tee) && AddVersion(certificate, kVcekSnp, subject.tcb.snp) &&
         AddVersion(certificate, kVcekMicrocode, subject.tcb.microcode) &&
         AddRaw(certificate, kVcekChip, is_chip_id_wrapped ? ByteSpan(wrapped) : chip);
}

// RSASSA-PSS with SHA-384 and a salt of its length, as AMD's certificates have it.
bool SignWithPss(X509& certificate, EVP_PKEY* key) {
  const DigestContextPtr context(EVP_MD_CTX_new());
  EVP_PKEY_CTX* how = nullptr;  // the context's own
  return context != nullptr && EVP_DigestSignInit(context.get(), &how, EVP_sha384(), nullptr, key) == 1 &&
         EVP_PKEY_CTX_set_rsa_padding(how, RSA_PKCS1_PSS_PADDING) == 1 &&
         EVP_PKEY_CTX_set_rsa_pss_saltlen(how, RSA_PSS_SALTLEN_DIGEST) == 1 &&
         X509_sign_ctx(&certificate, context.get()) > 0;
}

bool MakeCa(X509& certificate, const char* constraints, EVP_PKEY* issuer_key) {
  return AddExtension(certificate, NID_basic_constraints, constraints) &&
         AddExtension(certificate, NID_key_usage, "critical,keyCertSign") && SignWithPss(certificate, issuer_key);
}

absl::Status WriteFile(const std::string& path, mode_t mode, const std::function<int(BIO*)>& write) {
  // The mode applies from the file's creation.
  const mode_t mask = umask(0777 & ~mode);
  const BioPtr file(BIO_new_file(path.c_str(), "w"));
  umask(mask);
  if (file == nullptr) {
    const int error = errno;
    ERR_clear_error();
    return ErrnoStatus(error, path);
  }
  const bool is_written = write(file.get()) == 1 && BIO_flush(file.get()) == 1;
  return is_written ? absl::OkStatus() : OpenSslFailed(absl::StrCat("write ", path));
}

absl::Status WriteCertificate(const std::string& path, X509& certificate) {
  return WriteFile(path, 0644, [&](BIO* file) { return PEM_write_bio_X509(file, &certificate); });
}

absl::Status WriteKey(const std::string& path, EVP_PKEY* key) {
  return WriteFile(path, 0600, [&](BIO* file) {
    return PEM_write_bio_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<ThrowawaySnpCa>> ThrowawaySnpCa::Create(int rsa_bits) {
  const auto bits = static_cast<size_t>(rsa_bits);
  KeyPtr ark_key(EVP_RSA_gen(bits)), ask_key(EVP_RSA_gen(bits));
  if (ark_key == nullptr || ask_key == nullptr) return OpenSslFailed("make a key");
  CertificatePtr ark = Draft(kArkName, kArkName, ark_key.get());
  CertificatePtr ask = Draft(kAskName, kArkName, ask_key.get());
  if (ark == nullptr || ask == nullptr || !MakeCa(*ark, "critical,CA:TRUE", ark_key.get()) ||
      !MakeCa(*ask, "critical,CA:TRUE,pathlen:0", ark_key.get())) {
    return OpenSslFailed("make the certificates of a CA");
  }
  return std::unique_ptr<ThrowawaySnpCa>(
      new ThrowawaySnpCa(std::move(ark_key), std::move(ark), std::move(ask_key), std::move(ask)));
}

absl::StatusOr<CertificatePtr> ThrowawaySnpCa::IssueVcek(EVP_PKEY* key, const VcekSubject& subject,
                                                         const Deviation& deviation) const {
  EVP_PKEY* const issuer = deviation.is_issued_by_ark ? ark_key_.get() : ask_key_.get();
  CertificatePtr vcek = Draft("SEV-VCEK", deviation.is_issued_by_ark ? kArkName : kAskName, key);
  const bool is_made =
      vcek != nullptr && AddSubject(*vcek, subject, deviation.is_chip_id_wrapped) &&
      (deviation.is_signed_by_pkcs1 ? X509_sign(vcek.get(), issuer, EVP_sha384()) > 0 : SignWithPss(*vcek, issuer));
  if (!is_made) return OpenSslFailed("make the certificate of a VCEK");
  return vcek;
}

absl::StatusOr<std::unique_ptr<ThrowawayPsp>> ThrowawayPsp::Create(const std::string& folder, const Options& options) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto ca, ThrowawaySnpCa::Create(options.rsa_bits));
  const KeyPtr key(EVP_EC_gen("P-384"));
  if (key == nullptr) return OpenSslFailed("make a key");
  SIDEBAND_ASSIGN_OR_RETURN(const CertificatePtr vcek, ca->IssueVcek(key.get(), options.subject));
  SIDEBAND_RETURN_IF_ERROR(WriteCertificate(folder + "/ark.pem", ca->ark()));
  SIDEBAND_RETURN_IF_ERROR(WriteCertificate(folder + "/ask.pem", ca->ask()));
  SIDEBAND_RETURN_IF_ERROR(WriteCertificate(folder + "/vcek.pem", *vcek));
  SIDEBAND_RETURN_IF_ERROR(WriteKey(folder + "/vcek.key", key.get()));
  return Load(folder);
}

absl::StatusOr<std::unique_ptr<ThrowawayPsp>> ThrowawayPsp::Load(const std::string& folder) {
  const std::string key_file = folder + "/vcek.key";
  SIDEBAND_ASSIGN_OR_RETURN(const CertificateChain ask, LoadCertificates(folder + "/ask.pem"));
  SIDEBAND_ASSIGN_OR_RETURN(const CertificateChain vcek, LoadCertificates(folder + "/vcek.pem"));
  SIDEBAND_ASSIGN_OR_RETURN(const VcekSubject subject, SubjectOfVcek(*vcek.front()));
  SIDEBAND_ASSIGN_OR_RETURN(const std::string pem, ReadFile(key_file));
  KeyPtr key = ReadPrivateKey(MemoryReader(pem).get());
  const bool is_right = key != nullptr && X509_check_private_key(vcek.front().get(), key.get()) == 1;
  ERR_clear_error();
  if (!is_right) return absl::InvalidArgumentError(absl::StrCat(key_file, ": not the private key of vcek.pem"));
  return std::unique_ptr<ThrowawayPsp>(
      new ThrowawayPsp(ToDer(*ask.front()), ToDer(*vcek.front()), std::move(key), subject));
}

absl::StatusOr<Bytes> ThrowawayPsp::Report(SnpReport report) const {
  for (TcbVersion* const tcb : {&report.current_tcb, &report.reported_tcb, &report.committed_tcb, &report.launch_tcb}) {
    *tcb = subject_.tcb;
  }
  report.chip_id = subject_.chip_id;
  report.report_id_ma.fill(0xFF);
  return ReportAsIs(report);
}

absl::StatusOr<Bytes> ThrowawayPsp::ReportAsIs(SnpReport report) const {
  const Bytes unsigned_report = EncodeSnpReport(report);
  SIDEBAND_ASSIGN_OR_RETURN(std::tie(report.r, report.s),
                            SignP384(key_.get(), ByteSpan(unsigned_report).first(kSnpSignedBytes)));
  ByteWriter out;
  out.Raw(EncodeSnpReport(report));
  out.Raw(EncodeCertificateTable({.vcek = vcek_, .ask = ask_}));
  return std::move(out).Take();
}

}  // namespace sideband::attestation
