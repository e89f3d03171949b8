// SPDX-License-Identifier: Apache-2.0
//
// The names in a client's certificate. Accepted names are printable and complete, and make at most one identity.
//   Input: a first byte, whose bit 0 is set if the certificate has the extension twice; then the value of its
//   subjectAltName extension (DER).
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <memory>
#include <string>

#include "daemon/identity/identity.h"
#include "tests/fuzz/fuzz_target.h"

namespace sideband::fuzz {
namespace {

constexpr uint8_t kTwice = 1 << 0;

template <auto kFree>
struct Freer {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using Certificate = std::unique_ptr<X509, Freer<X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freer<X509_EXTENSION_free>>;
using Octets = std::unique_ptr<ASN1_OCTET_STRING, Freer<ASN1_OCTET_STRING_free>>;

Certificate CertificateWith(ByteSpan names, int times) {
  Certificate certificate(X509_new());
  const Octets octets(ASN1_OCTET_STRING_new());
  ASN1_OCTET_STRING_set(octets.get(), names.data(), static_cast<int>(names.size()));
  const Extension extension(X509_EXTENSION_create_by_NID(nullptr, NID_subject_alt_name, 0, octets.get()));
  for (int i = 0; i < times; ++i) X509_add_ext(certificate.get(), extension.get(), -1);
  return certificate;
}

bool IsPlain(const std::string& name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c <= '~'; });
}

Bytes Seed(const char* names, uint8_t flags = 0) {
  const Extension extension(X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names));
  const ASN1_OCTET_STRING* const value = X509_EXTENSION_get_data(extension.get());
  Bytes seed = {flags};
  const uint8_t* const data = ASN1_STRING_get0_data(value);
  seed.insert(seed.end(), data, data + ASN1_STRING_length(value));
  return seed;
}

std::vector<Bytes> Seeds() {
  return {Seed("URI:spiffe://example.org/acme"), Seed("URI:spiffe://example.org/acme", kTwice),
          Seed("URI:spiffe://a/b,URI:spiffe://c/d"), Seed("DNS:prometheus.example.org,DNS:b,IP:127.0.0.1,RID:1.2.3"),
          Seed("email:a@b.c,URI:x")};
}

int RunInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const bool twice = (data[0] & kTwice) != 0;
  const auto certificate = CertificateWith({data + 1, size - 1}, twice ? 2 : 1);
  const sideband::daemon::SubjectNames names = sideband::daemon::PeerNames(certificate.get());
  FUZZ_CHECK(!twice || (names.uris.empty() && names.dns_names.empty()));
  for (const auto& list : {names.uris, names.dns_names}) FUZZ_CHECK(std::all_of(list.begin(), list.end(), IsPlain));
  const auto identity = sideband::daemon::IdentityFromNames(names, [](absl::string_view) { return true; });
  FUZZ_CHECK(!identity.has_value() || sideband::daemon::IsIdentity(*identity));
  return 0;
}

FUZZ_TARGET(peer_names_fuzz);

}  // namespace
}  // namespace sideband::fuzz
