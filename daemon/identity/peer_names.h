// SPDX-License-Identifier: Apache-2.0
//
// The names in a certificate that TLS has verified, and whether it may identify a caller at all.
#ifndef SIDEBAND_DAEMON_IDENTITY_PEER_NAMES_H_
#define SIDEBAND_DAEMON_IDENTITY_PEER_NAMES_H_

#include <openssl/types.h>

#include "daemon/identity/identity.h"

namespace sideband::daemon {

// `certificate` may be nullptr; the result is then empty. Where a URI or DNS name has a byte outside of 0x21 to 0x7E,
// for example a zero byte, all names are discarded: other programs may read such a certificate differently.
// None also for a signing certificate.
SubjectNames PeerNames(X509* certificate);

// Whether the certificate is an authority's: CA:TRUE, or a key usage with keyCertSign or cRLSign. X509-SVID section 5.2
// demands that validators reject it as an identity. True also for extensions that OpenSSL cannot read.
bool IsSigningCertificate(X509* certificate);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_IDENTITY_PEER_NAMES_H_
