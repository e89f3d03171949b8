// SPDX-License-Identifier: Apache-2.0
//
// The TLS context of every listener: client verification as configured, TLS 1.3 unless 1.2 is allowed, no session
// resumption, a bound on KeyUpdates. A handshake in memory says whether clients can connect to a listener with its
// files now: TLS libraries say so only to the client that fails.
//   SIDEBAND_ASSIGN_OR_RETURN(const TlsContext context, MakeTlsContext(files, config, ApplicationProtocol::kAny));
//   SSL* const connection = SSL_new(context.get());
#ifndef SIDEBAND_DAEMON_LISTEN_TLS_CONTEXT_H_
#define SIDEBAND_DAEMON_LISTEN_TLS_CONTEXT_H_

#include <openssl/types.h>
#include <openssl/x509_vfy.h>

#include <array>
#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/config/config.h"
#include "daemon/config/tls_files.h"
#include "proto/base/errors.h"

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

// The reason in metrics, the log and the audit log.
inline constexpr char kKeyUpdatesBreach[] = "tls_key_updates";

// A bound on the KeyUpdates of TLS 1.3 that a peer sends. OpenSSL has none, and each costs a derivation of keys: a
// burst of 20 MB would hold up a thread for seconds. EndAtKeyUpdates is called before SSL_new, HasTooManyKeyUpdates
// after each read.

// The KeyUpdates of one connection. Not thread-safe.
class KeyUpdates {
 public:
  static constexpr size_t kMax = 10;
  static constexpr absl::Duration kWithin = absl::Minutes(1);

  // One more at `now`, which does not decrease.
  void Add(absl::Duration now);
  // kMax of them came within kWithin at some time.
  bool are_too_many() const { return are_too_many_; }

 private:
  std::array<absl::Duration, kMax> times_;  // a ring: of the newest kMax
  size_t count_ = 0;
  bool are_too_many_ = false;
};

// Counts the KeyUpdates of all connections that are made from the context. After too many a connection reads no more,
// as if the peer had closed its direction.
void EndAtKeyUpdates(SSL_CTX& context);
bool HasTooManyKeyUpdates(const SSL* ssl);

// FAILED_PRECONDITION in one line, "FILE: why no client can use it": the server certificate has expired or is not valid
// yet, has no name, is not one of servers, or its key is of a kind that clients do not know. By the system clock, as
// TLS's own check. Its issuer is not judged: which CA clients trust is not known here. `files` must have been loaded
// from `config`.
absl::Status CheckHandshake(const TlsFiles& files, const TlsServerConfig& config);

// Adds the errors of each listener on the network of `config` whose files can be loaded.
void CheckHandshakes(const Config& config, ErrorList& errors);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_LISTEN_TLS_CONTEXT_H_
