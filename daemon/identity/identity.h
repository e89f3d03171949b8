// SPDX-License-Identifier: Apache-2.0
//
// The identity of a caller: spiffe://DOMAIN/PATH (certificate or token), dns:NAME (certificate) or jwt:SUBJECT (token);
// and its sources: the names in a certificate, the credentials of a request and its connection.
//   const auto is_listed = [&](absl::string_view identity) { return policy.Find(identity).has_value(); };
//   const auto of_certificate = IdentityFromNames(names, is_listed);
//   const auto of_token = IdentityFromSubject("system:serviceaccount:monitoring:prometheus");
#ifndef SIDEBAND_DAEMON_IDENTITY_IDENTITY_H_
#define SIDEBAND_DAEMON_IDENTITY_IDENTITY_H_

#include <openssl/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
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

// The names in a certificate that TLS has verified.
// `certificate` may be nullptr; the result is then empty. Where a URI or DNS name has a byte outside of 0x21 to 0x7E,
// for example a zero byte, all names are discarded: other programs may read such a certificate differently.
// A signing certificate has no names either.
SubjectNames PeerNames(X509* certificate);

// Whether the certificate is an authority's: CA:TRUE, or a key usage with keyCertSign or cRLSign. X509-SVID section 5.2
// demands that validators reject it as an identity. True also for extensions that OpenSSL cannot read.
bool IsSigningCertificate(X509* certificate);

// Whether a request's connection may still be used: TLS verified the peer when the connection was made, possibly hours
// ago.
//   if (const absl::Status status = credentials.connection->Check(); !status.ok()) return status;
// Thread-safe; cheap enough for a call per request.
class ConnectionStanding {
 public:
  virtual ~ConnectionStanding() = default;
  // UNAUTHENTICATED where the peer's certificate has expired, or its authority is no longer a client authority of the
  // listener.
  virtual absl::Status Check() const = 0;
  // UNAVAILABLE where the connection has reached its maximum age. The client has to connect again.
  virtual absl::Status CheckAge() const = 0;
};

// The credentials of a request and its connection, before they are mapped to a principal. Reader::Authenticate maps
// them, under the policy in force.
struct Credentials {
  // The names in the client certificate that TLS has verified; empty without a certificate.
  SubjectNames certificate;
  // The token as sent, not verified; absent where the request has no Authorization field. A field without a bearer
  // token is an empty token, so that the request is rejected rather than authenticated by other credentials.
  std::optional<std::string> bearer_token;
  // The user id of the peer of a Unix socket that may operate the daemon (SO_PEERCRED).
  std::optional<uint32_t> local_operator;
  // nullptr where the standing of the connection cannot change. Shared with the connection.
  std::shared_ptr<const ConnectionStanding> connection;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_IDENTITY_IDENTITY_H_
