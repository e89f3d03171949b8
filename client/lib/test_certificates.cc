// SPDX-License-Identifier: Apache-2.0
#include "client/lib/test_certificates.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdlib>

#include "proto/base/file.h"

namespace sideband::client {
namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

void Require(bool done) {
  if (!done) std::abort();
}

Key NewKey() { return Key(EVP_EC_gen("P-256"), &EVP_PKEY_free); }

void SetName(X509_NAME* name, const char* common_name) {
  Require(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(common_name), -1,
                                     -1, 0) == 1);
}

void AddExtension(X509* certificate, int kind, const char* value) {
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value);
  Require(extension != nullptr && X509_add_ext(certificate, extension, -1) == 1);
  X509_EXTENSION_free(extension);
}

// Valid from an hour ago for two; signed with `ca_key` in the name of the one CA.
Certificate Issue(const char* common_name, EVP_PKEY* key, int extension, const char* value, EVP_PKEY* ca_key) {
  Certificate certificate(X509_new(), &X509_free);
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), extension);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  SetName(X509_get_subject_name(certificate.get()), common_name);
  SetName(X509_get_issuer_name(certificate.get()), "test CA");
  X509_set_pubkey(certificate.get(), key);
  AddExtension(certificate.get(), extension, value);
  Require(X509_sign(certificate.get(), ca_key, EVP_sha256()) > 0);
  return certificate;
}

template <typename Write>
std::string WritePem(const std::string& path, Write write) {
  BIO* const file = BIO_new_file(path.c_str(), "w");
  Require(file != nullptr && write(file) == 1);
  BIO_free(file);
  return path;
}

std::string WriteCertificate(const std::string& path, X509* certificate) {
  return WritePem(path, [&](BIO* file) { return PEM_write_bio_X509(file, certificate); });
}

std::string WriteKey(const std::string& path, EVP_PKEY* key) {
  return WritePem(
      path, [&](BIO* file) { return PEM_write_bio_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr); });
}

}  // namespace

TestCertificates TestCertificates::WriteTo(const std::string& folder) {
  const Key ca = NewKey(), server = NewKey(), client = NewKey();
  const auto ca_certificate = Issue("test CA", ca.get(), NID_basic_constraints, "critical,CA:TRUE", ca.get());
  const auto server_certificate =
      Issue("server", server.get(), NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1", ca.get());
  const auto client_certificate =
      Issue("client", client.get(), NID_subject_alt_name, "URI:spiffe://test/client", ca.get());
  return {.ca_file = WriteCertificate(folder + "/ca.pem", ca_certificate.get()),
          .server_cert_file = WriteCertificate(folder + "/server.pem", server_certificate.get()),
          .server_key_file = WriteKey(folder + "/server.key", server.get()),
          .client_cert_file = WriteCertificate(folder + "/client.pem", client_certificate.get()),
          .client_key_file = WriteKey(folder + "/client.key", client.get())};
}

std::shared_ptr<grpc::ServerCredentials> TestCertificates::MutualTls() const {
  grpc::SslServerCredentialsOptions options(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = *ReadFile(ca_file);
  options.pem_key_cert_pairs.push_back({*ReadFile(server_key_file), *ReadFile(server_cert_file)});
  return grpc::SslServerCredentials(options);
}

}  // namespace sideband::client
