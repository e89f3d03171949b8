// SPDX-License-Identifier: Apache-2.0
//
// The TLS context of every listener: client verification as configured, TLS 1.3 unless 1.2 is allowed, no session
// resumption.
//   SIDEBAND_ASSIGN_OR_RETURN(const TlsContext context, MakeTlsContext(files, config, ApplicationProtocol::kAny));
//   SSL* const connection = SSL_new(context.get());
#ifndef SIDEBAND_DAEMON_LISTEN_TLS_CONTEXT_H_
#define SIDEBAND_DAEMON_LISTEN_TLS_CONTEXT_H_

#include <openssl/types.h>
#include <openssl/x509_vfy.h>

#include <memory>

#include "absl/status/statusor.h"
#include "daemon/config/config.h"
#include "daemon/config/tls_files.h"

namespace sideband::daemon {

// Shared by the listener and its connections.
using TlsContext = std::shared_ptr<SSL_CTX>;

// kHttp2: an ALPN offer without "h2" fails the handshake. OpenSSL does not call the selection for a client without
// ALPN, so the caller must check SSL_get0_alpn_selected() afterwards. kAny: ALPN offers are ignored.
enum class ApplicationProtocol { kAny, kHttp2 };

// INVALID_ARGUMENT naming the faulty file; RESOURCE_EXHAUSTED if memory is exhausted. `files` must have been loaded
// from `config`. The context shares the private key of `files`, without a copy.
absl::StatusOr<TlsContext> MakeTlsContext(const TlsFiles& files, const TlsServerConfig& config,
                                          ApplicationProtocol protocol);

// The verification of clients in every handshake, and whenever they are verified again: OpenSSL's, and no signing
// certificate identifies a client.
int VerifyClient(int good, X509_STORE_CTX* verified);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_LISTEN_TLS_CONTEXT_H_
