// SPDX-License-Identifier: Apache-2.0
//
// The names in a certificate that TLS has verified.
#ifndef SIDEBAND_DAEMON_HTTP_PEER_NAMES_H_
#define SIDEBAND_DAEMON_HTTP_PEER_NAMES_H_

#include <openssl/types.h>

#include "daemon/authz/identity.h"

namespace sideband::daemon {

// `certificate` may be nullptr: nobody. Where any name holds a zero byte or is not IA5, nothing is taken from the
// certificate: what reads it differently elsewhere must not become an identity here.
SubjectNames PeerNames(const X509* certificate);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_PEER_NAMES_H_
