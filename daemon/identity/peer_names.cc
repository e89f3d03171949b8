// SPDX-License-Identifier: Apache-2.0
#include "daemon/identity/peer_names.h"

#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

#include "proto/base/openssl.h"

namespace sideband::daemon {
namespace {

std::string TextOf(const ASN1_STRING* string) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(string)),
          static_cast<size_t>(ASN1_STRING_length(string))};
}

// Printable ASCII without the space.
bool IsPlain(const std::string& text) {
  for (const char c : text) {
    if (c <= ' ' || c > '~') return false;
  }
  return true;
}

}  // namespace

bool IsSigningCertificate(X509* certificate) {
  const uint32_t flags = X509_get_extension_flags(certificate);
  if ((flags & (EXFLAG_CA | EXFLAG_INVALID)) != 0) return true;
  // Without the extension OpenSSL reports every usage.
  return (flags & EXFLAG_KUSAGE) != 0 && (X509_get_key_usage(certificate) & (KU_KEY_CERT_SIGN | KU_CRL_SIGN)) != 0;
}

SubjectNames PeerNames(X509* certificate) {
  if (certificate == nullptr || IsSigningCertificate(certificate)) return {};
  const GeneralNamesPtr names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  SubjectNames found;
  // No names where the extension is absent, repeated or malformed: `names` is then nullptr.
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_URI && name->type != GEN_DNS) continue;
    std::string text = TextOf(name->type == GEN_URI ? name->d.uniformResourceIdentifier : name->d.dNSName);
    if (!IsPlain(text)) return {};
    (name->type == GEN_URI ? found.uris : found.dns_names).push_back(std::move(text));
  }
  return found;
}

}  // namespace sideband::daemon
