// SPDX-License-Identifier: Apache-2.0
//
// OpenSSL: owners of its objects, reading PEM text without a prompt, X.509 certificates in files and messages, and
// whether a chain of them ends at a trusted root.
//   const BioPtr reader = MemoryReader(pem);
//   while (const CertificatePtr certificate = ReadCertificate(reader.get())) Use(*certificate);
//
//   SIDEBAND_ASSIGN_OR_RETURN(const CertificateRoots roots, CertificateRoots::Load({"ca.pem"}));
//   SIDEBAND_RETURN_IF_ERROR(roots.Verify(chain, absl::Now()));
#ifndef SIDEBAND_PROTO_BASE_OPENSSL_H_
#define SIDEBAND_PROTO_BASE_OPENSSL_H_

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/base/bytes.h"

namespace sideband {

template <auto kFree>
struct OpensslDeleter {
  template <typename Object>
  void operator()(Object* object) const {
    kFree(object);
  }
};

using Asn1ObjectPtr = std::unique_ptr<ASN1_OBJECT, OpensslDeleter<ASN1_OBJECT_free>>;
using Asn1OctetsPtr = std::unique_ptr<ASN1_OCTET_STRING, OpensslDeleter<ASN1_OCTET_STRING_free>>;
using BioPtr = std::unique_ptr<BIO, OpensslDeleter<BIO_free>>;
using CertificatePtr = std::unique_ptr<X509, OpensslDeleter<X509_free>>;
using CipherContextPtr = std::unique_ptr<EVP_CIPHER_CTX, OpensslDeleter<EVP_CIPHER_CTX_free>>;
using DigestContextPtr = std::unique_ptr<EVP_MD_CTX, OpensslDeleter<EVP_MD_CTX_free>>;
using ExtensionPtr = std::unique_ptr<X509_EXTENSION, OpensslDeleter<X509_EXTENSION_free>>;
using GeneralNamesPtr = std::unique_ptr<GENERAL_NAMES, OpensslDeleter<GENERAL_NAMES_free>>;
using KdfContextPtr = std::unique_ptr<EVP_KDF_CTX, OpensslDeleter<EVP_KDF_CTX_free>>;
using KdfPtr = std::unique_ptr<EVP_KDF, OpensslDeleter<EVP_KDF_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, OpensslDeleter<EVP_PKEY_free>>;
using SslContextPtr = std::unique_ptr<SSL_CTX, OpensslDeleter<SSL_CTX_free>>;
using SslPtr = std::unique_ptr<SSL, OpensslDeleter<SSL_free>>;
using StoreContextPtr = std::unique_ptr<X509_STORE_CTX, OpensslDeleter<X509_STORE_CTX_free>>;

// Reads `bytes`, which must outlive it.
BioPtr MemoryReader(absl::string_view bytes);
// The next certificate in PEM form, nullptr where none follows or it is broken: OpenSSL's error queue has the reason.
CertificatePtr ReadCertificate(BIO* reader);
// The private key in PEM form; nullptr likewise, and for an encrypted one: no pass phrase is asked for.
KeyPtr ReadPrivateKey(BIO* reader);

// INTERNAL: OpenSSL could not WHAT. Clears its error queue.
absl::Status OpenSslFailed(absl::string_view what);

using CertificateChain = std::vector<CertificatePtr>;

// All certificates of a PEM file, at least one. Errors start with the path.
absl::StatusOr<CertificateChain> LoadCertificates(const std::string& path);

// The end of the certificate's validity; an invalid time counts as past.
absl::Time NotAfter(const X509* certificate);
// "2026-10-02T09:30:00Z", or "an unknown time".
std::string UtcText(const ASN1_TIME* time);

Bytes ToDer(const X509& certificate);
// nullptr unless the bytes, of an untrusted peer, are exactly one certificate.
CertificatePtr FromDer(ByteSpan der);

// The certificates at which trust ends. Immutable, thread-safe and movable.
class CertificateRoots {
 public:
  // PEM files. Errors start with the path of the file.
  static absl::StatusOr<CertificateRoots> Load(const std::vector<std::string>& files);

  // Whether the chain's first certificate leads to a root, by way of the others. Without `now` their validity in time
  // is not checked. PERMISSION_DENIED with OpenSSL's reason.
  absl::Status Verify(const CertificateChain& chain, std::optional<absl::Time> now) const;

 private:
  using StorePtr = std::unique_ptr<X509_STORE, OpensslDeleter<X509_STORE_free>>;
  explicit CertificateRoots(StorePtr store) : store_(std::move(store)) {}

  StorePtr store_;
};

}  // namespace sideband

#endif  // SIDEBAND_PROTO_BASE_OPENSSL_H_
