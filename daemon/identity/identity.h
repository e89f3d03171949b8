// SPDX-License-Identifier: Apache-2.0
//
// The identity of the holder of a verified certificate or token: spiffe://DOMAIN/PATH (certificate or token), dns:NAME
// (certificate) or jwt:SUBJECT (token).
//   const auto is_listed = [&](absl::string_view identity) { return policy.Find(identity).has_value(); };
//   const auto of_certificate = IdentityFromNames(names, is_listed);
//   const auto of_token = IdentityFromSubject("system:serviceaccount:monitoring:prometheus");
#ifndef SIDEBAND_DAEMON_IDENTITY_IDENTITY_H_
#define SIDEBAND_DAEMON_IDENTITY_IDENTITY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"

namespace sideband::daemon {

// The subject alternative names of a certificate that TLS has verified.
struct SubjectNames {
  std::vector<std::string> uris;
  std::vector<std::string> dns_names;
};

// spiffe://TRUST-DOMAIN/PATH, with the characters of the SPIFFE ID specification and at most 2048 bytes.
bool IsSpiffeId(absl::string_view text);

// "dns:" and a host name in lower case.
bool IsDnsIdentity(absl::string_view text);

// "jwt:" and a subject of 1 to 255 graphic ASCII characters that does not start with "spiffe:" (case-insensitive).
bool IsJwtIdentity(absl::string_view text);

// Whether the text is any of these three.
bool IsIdentity(absl::string_view text);

// With exactly one URI name, returns the URI if it is a SPIFFE ID. Without URI names, returns "dns:NAME" for the only
// DNS name that `is_listed` accepts in that form. Returns nullopt for ambiguous names: several URIs, or several listed
// DNS names.
std::optional<std::string> IdentityFromNames(const SubjectNames& names,
                                             absl::FunctionRef<bool(absl::string_view)> is_listed);

// "local:uid=USER", the identity of a local operator. A policy cannot list it, and no certificate or token can have it.
std::string LocalIdentity(uint32_t user);

// A SPIFFE ID is returned unchanged (JWT-SVID), any other subject as "jwt:SUBJECT". nullopt for an invalid subject.
std::optional<std::string> IdentityFromSubject(absl::string_view subject);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_IDENTITY_IDENTITY_H_
