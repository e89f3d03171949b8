// SPDX-License-Identifier: Apache-2.0
#include "daemon/identity/identity.h"

#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <memory>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "proto/base/openssl.h"

namespace sideband::daemon {
namespace {

constexpr size_t kSpiffeIdBytesMax = 2048;
constexpr size_t kHostNameBytesMax = 253;
// OpenID Connect Core, 2: "It MUST NOT exceed 255 ASCII characters in length."
constexpr size_t kSubjectBytesMax = 255;

bool IsTrustDomainCharacter(char c) {
  return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '.' || c == '-' || c == '_';
}

bool IsPathCharacter(char c) { return absl::ascii_isalnum(c) || c == '.' || c == '-' || c == '_'; }

bool IsPathSegment(absl::string_view segment) {
  return !segment.empty() && segment != "." && segment != ".." &&
         std::all_of(segment.begin(), segment.end(), IsPathCharacter);
}

bool IsTrustDomain(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsTrustDomainCharacter);
}

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

bool IsSpiffeId(absl::string_view text) {
  if (text.size() > kSpiffeIdBytesMax || !absl::ConsumePrefix(&text, "spiffe://")) return false;
  const size_t slash = text.find('/');
  if (slash == absl::string_view::npos || !IsTrustDomain(text.substr(0, slash))) return false;
  const std::vector<absl::string_view> segments = absl::StrSplit(text.substr(slash + 1), '/');
  return std::all_of(segments.begin(), segments.end(), IsPathSegment);
}

bool IsDnsIdentity(absl::string_view text) {
  if (!absl::ConsumePrefix(&text, "dns:")) return false;
  return text.size() <= kHostNameBytesMax && IsTrustDomain(text);
}

bool IsJwtIdentity(absl::string_view text) {
  if (!absl::ConsumePrefix(&text, "jwt:") || text.empty() || text.size() > kSubjectBytesMax) return false;
  // Otherwise a subject that is almost a SPIFFE ID would be an identity that looks like it.
  if (absl::StartsWithIgnoreCase(text, "spiffe:")) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return absl::ascii_isgraph(c); });
}

bool IsIdentity(absl::string_view text) { return IsSpiffeId(text) || IsDnsIdentity(text) || IsJwtIdentity(text); }

std::string LocalIdentity(uint32_t user) { return absl::StrCat("local:uid=", user); }

std::optional<std::string> IdentityFromSubject(absl::string_view subject) {
  if (IsSpiffeId(subject)) return std::string(subject);
  std::string identity = absl::StrCat("jwt:", subject);
  if (!IsJwtIdentity(identity)) return std::nullopt;
  return identity;
}

std::optional<std::string> IdentityFromNames(const SubjectNames& names,
                                             absl::FunctionRef<bool(absl::string_view)> is_listed) {
  // Several URI names are ambiguous, even equal ones.
  if (names.uris.size() > 1) return std::nullopt;
  if (names.uris.size() == 1) return IsSpiffeId(names.uris[0]) ? std::optional(names.uris[0]) : std::nullopt;
  std::optional<std::string> found;
  for (const std::string& name : names.dns_names) {
    std::string identity = absl::StrCat("dns:", absl::AsciiStrToLower(name));
    // Host names have no case. A repeated name is not ambiguous.
    if (!IsDnsIdentity(identity) || !is_listed(identity) || identity == found) continue;
    if (found) return std::nullopt;
    found = std::move(identity);
  }
  return found;
}

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
