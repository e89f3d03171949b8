// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/fake_certificates.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace sideband::daemon {
namespace {

void Require(bool good) {
  if (!good) std::abort();
}

FILE* Create(const std::string& path) {
  FILE* file = std::fopen(path.c_str(), "w");
  Require(file != nullptr);
  return file;
}

CertificateFiles Write(const std::string& stem, X509* certificate, EVP_PKEY* key) {
  CertificateFiles files{stem + ".crt", stem + ".key"};
  FILE* out = Create(files.cert_file);
  Require(PEM_write_X509(out, certificate) == 1);
  std::fclose(out);
  out = Create(files.key_file);
  Require(PEM_write_PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
  std::fclose(out);
  return files;
}

void AddExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  Require(extension != nullptr && X509_add_ext(certificate, extension, -1) == 1);
  X509_EXTENSION_free(extension);
}

// Valid from an hour ago for a day; not yet signed.
X509* Blank(const std::string& name, EVP_PKEY* key) {
  X509* certificate = X509_new();
  uint64_t serial = 0;
  Require(RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial)) == 1);
  Require(X509_set_version(certificate, X509_VERSION_3) == 1);
  Require(ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1) == 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 86400);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  Require(X509_set_pubkey(certificate, key) == 1);
  return certificate;
}

}  // namespace

FakeCa::FakeCa(const std::string& name, std::string folder)
    : folder_(std::move(folder)), key_(EVP_EC_gen("P-256")), certificate_(Blank(name, key_)) {
  Require(X509_set_issuer_name(certificate_, X509_get_subject_name(certificate_)) == 1);
  AddExtension(certificate_, certificate_, NID_basic_constraints, "critical,CA:TRUE");
  AddExtension(certificate_, certificate_, NID_key_usage, "critical,keyCertSign");
  Require(X509_sign(certificate_, key_, EVP_sha256()) > 0);
  files_ = Write(folder_ + "/" + name, certificate_, key_);
}

FakeCa::~FakeCa() {
  X509_free(certificate_);
  EVP_PKEY_free(key_);
}

CertificateFiles FakeCa::Issue(const std::string& name, const std::string& alternative_names) const {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = Blank(name, key);
  Require(X509_set_issuer_name(certificate, X509_get_subject_name(certificate_)) == 1);
  if (!alternative_names.empty()) AddExtension(certificate, certificate_, NID_subject_alt_name, alternative_names);
  Require(X509_sign(certificate, key_, EVP_sha256()) > 0);
  CertificateFiles files = Write(folder_ + "/" + name, certificate, key);
  X509_free(certificate);
  EVP_PKEY_free(key);
  return files;
}

TlsServerConfig FakeCa::Server() const {
  const CertificateFiles files = Issue("server", "DNS:localhost,IP:127.0.0.1");
  return {.cert_file = files.cert_file, .key_file = files.key_file, .client_ca_file = ca_file()};
}

}  // namespace sideband::daemon
