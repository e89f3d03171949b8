// SPDX-License-Identifier: Apache-2.0
//
// Who a verified certificate or token says its holder is. Identities are spiffe://DOMAIN/PATH (of either), dns:NAME (of
// certificates) and jwt:SUBJECT (of tokens).
//   const auto identity = IdentityFromNames(names, [&](absl::string_view dns) { return policy.Lists(dns); });
//   const auto identity = IdentityFromSubject("system:serviceaccount:monitoring:prometheus");
#ifndef SIDEBAND_DAEMON_AUTHZ_IDENTITY_H_
#define SIDEBAND_DAEMON_AUTHZ_IDENTITY_H_

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

// spiffe://TRUST-DOMAIN/PATH, with the characters that the SPIFFE ID specification allows and at most 2048 bytes.
bool IsSpiffeId(absl::string_view text);

// "dns:" and a host name in lower case.
bool IsDnsIdentity(absl::string_view text);

// "jwt:" and a subject of 1 to 255 graphic ASCII characters that is not a SPIFFE ID, nor meant to be one.
bool IsJwtIdentity(absl::string_view text);

// Any of these.
bool IsIdentity(absl::string_view text);

// The one URI where there is exactly one and it is a SPIFFE ID; with no URI at all, "dns:NAME" for the one DNS name
// that `is_listed` accepts in that form. Everything ambiguous is nobody: several URIs, several listed DNS names.
std::optional<std::string> IdentityFromNames(const SubjectNames& names,
                                             absl::FunctionRef<bool(absl::string_view)> is_listed);

// "local:uid=USER", of a local operator. No policy lists it, and no certificate or token can be it.
std::string LocalIdentity(uint32_t user);

// A SPIFFE ID is itself (a JWT-SVID); any other subject is "jwt:SUBJECT". nullopt where that is no identity.
std::optional<std::string> IdentityFromSubject(absl::string_view subject);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUTHZ_IDENTITY_H_
