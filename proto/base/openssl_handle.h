// SPDX-License-Identifier: Apache-2.0
//
// Owners of OpenSSL's objects, and reading PEM text without a prompt.
//   const BioPtr reader = MemoryReader(pem);
//   while (const CertificatePtr certificate = ReadCertificate(reader.get())) Use(*certificate);
#ifndef SIDEBAND_PROTO_BASE_OPENSSL_HANDLE_H_
#define SIDEBAND_PROTO_BASE_OPENSSL_HANDLE_H_

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

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

}  // namespace sideband

#endif  // SIDEBAND_PROTO_BASE_OPENSSL_HANDLE_H_
