// SPDX-License-Identifier: Apache-2.0
//
// Whether clients can connect to a listener with these files now, by a handshake in memory: TLS libraries say so only
// to the client that fails.
//   SIDEBAND_RETURN_IF_ERROR(CheckHandshake(*files, config));
#ifndef SIDEBAND_DAEMON_LISTEN_HANDSHAKE_CHECK_H_
#define SIDEBAND_DAEMON_LISTEN_HANDSHAKE_CHECK_H_

#include "absl/status/status.h"
#include "daemon/config/config.h"
#include "daemon/config/tls_files.h"
#include "proto/base/errors.h"

namespace sideband::daemon {

// FAILED_PRECONDITION in one line, "FILE: why no client can use it": the server certificate has expired or is not valid
// yet, has no name, is not one of servers, or its key is of a kind that clients do not know. By the system clock, as
// TLS's own check. Its issuer is not judged: which CA clients trust is not known here. `files` must have been loaded
// from `config`.
absl::Status CheckHandshake(const TlsFiles& files, const TlsServerConfig& config);

// Adds the errors of each listener on the network of `config` whose files can be loaded.
void CheckHandshakes(const Config& config, ErrorList& errors);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_LISTEN_HANDSHAKE_CHECK_H_
