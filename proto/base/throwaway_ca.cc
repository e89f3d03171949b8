// SPDX-License-Identifier: Apache-2.0
#include "proto/base/throwaway_ca.h"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"

namespace sideband {
namespace {

constexpr long kDay = 24 * 60 * 60;

bool SetName(X509_NAME* name, const std::string& common_name) {
  return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(common_name.data()),
                                    static_cast<int>(common_name.size()), -1, 0) == 1;
}

bool AddExtension(X509* certificate, int kind, const std::string& value) {
  const ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str()));
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

template <typename Write>
absl::Status WritePem(const std::string& path, mode_t mode, Write write) {
  // The mode applies from the file's creation, so that a key is never readable by other users.
  const mode_t mask = umask(0777 & ~mode);
  const BioPtr file(BIO_new_file(path.c_str(), "w"));
  umask(mask);
  if (file == nullptr) return ErrnoStatus(errno, path);
  const bool written = write(file.get()) == 1 && BIO_flush(file.get()) == 1;
  return written ? absl::OkStatus() : OpenSslFailed(absl::StrCat("write ", path));
}

absl::Status WriteCertificate(const std::string& path, X509* certificate) {
  return WritePem(path, 0644, [&](BIO* file) { return PEM_write_bio_X509(file, certificate); });
}

absl::Status WriteKey(const std::string& path, EVP_PKEY* key) {
  return WritePem(path, 0600, [&](BIO* file) {
    return PEM_write_bio_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<ThrowawayCa>> ThrowawayCa::Create(const std::string& folder, const std::string& name) {
  std::unique_ptr<ThrowawayCa> ca(new ThrowawayCa(folder, name));
  ca->key_.reset(EVP_EC_gen("P-256"));
  if (ca->key_ == nullptr) return OpenSslFailed("make a key");
  SIDEBAND_ASSIGN_OR_RETURN(const CertificatePtr certificate, ca->Sign(name, ca->key_.get(),
                                                                       {{NID_basic_constraints, "critical,CA:TRUE"},
                                                                        {NID_key_usage, "critical,keyCertSign"}}));
  SIDEBAND_RETURN_IF_ERROR(WriteCertificate(ca->ca_file(), certificate.get()));
  return ca;
}

absl::Status ThrowawayCa::Issue(const std::string& name, const std::string& alternative_names) {
  const KeyPtr key(EVP_EC_gen("P-256"));
  if (key == nullptr) return OpenSslFailed("make a key");
  std::vector<Extension> extensions;
  if (!alternative_names.empty()) extensions.emplace_back(NID_subject_alt_name, alternative_names);
  SIDEBAND_ASSIGN_OR_RETURN(const CertificatePtr certificate, Sign(name, key.get(), extensions));
  SIDEBAND_RETURN_IF_ERROR(WriteCertificate(CertFile(name), certificate.get()));
  return WriteKey(KeyFile(name), key.get());
}

absl::StatusOr<CertificatePtr> ThrowawayCa::Sign(const std::string& common_name, EVP_PKEY* key,
                                                 const std::vector<Extension>& extensions) {
  CertificatePtr certificate(X509_new());
  bool made = certificate != nullptr && X509_set_version(certificate.get(), X509_VERSION_3) == 1 &&
              ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), next_serial_++) == 1 &&
              X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -kDay) != nullptr &&
              X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 30 * kDay) != nullptr &&
              SetName(X509_get_subject_name(certificate.get()), common_name) &&
              SetName(X509_get_issuer_name(certificate.get()), name_) && X509_set_pubkey(certificate.get(), key) == 1;
  for (const auto& [kind, value] : extensions) made = made && AddExtension(certificate.get(), kind, value);
  if (!made || X509_sign(certificate.get(), key_.get(), EVP_sha256()) <= 0) {
    return OpenSslFailed(absl::StrCat("make a certificate for ", common_name));
  }
  return certificate;
}

}  // namespace sideband
