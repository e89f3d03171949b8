// SPDX-License-Identifier: Apache-2.0
//
// The peer of a TLS connection, evaluated alike by every server, and whether its certificate still holds.
//   const auto peer = std::make_shared<const TlsPeer>(ssl, listener_tls, limits);   // after the handshake
//   peer->names();
//   peer->Check();    // at each request
#ifndef SIDEBAND_DAEMON_LISTEN_TLS_PEER_H_
#define SIDEBAND_DAEMON_LISTEN_TLS_PEER_H_

#include <openssl/types.h>
#include <openssl/x509.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/identity/identity.h"
#include "daemon/listen/listener_tls.h"

namespace sideband::daemon {

struct ConnectionLimits {
  absl::Duration age_max = absl::Hours(24);
  // The clock for the expiry of certificates and the age of connections. nullptr: the system's, which TLS itself uses
  // for certificates. Must outlive the connections.
  const Clock* clock = nullptr;
};

// Thread-safe. Holds the certificates of the connection, not the connection.
class TlsPeer final : public ConnectionStanding {
 public:
  // `ssl` must have completed its handshake. `tls` must outlive this object.
  TlsPeer(const SSL* ssl, const ListenerTls& tls, ConnectionLimits limits);
  ~TlsPeer() override;
  TlsPeer(const TlsPeer&) = delete;
  TlsPeer& operator=(const TlsPeer&) = delete;

  // Empty without a client certificate.
  const SubjectNames& names() const { return names_; }
  // The earliest end of validity in the verified chain; InfiniteFuture without a certificate.
  absl::Time not_after() const { return not_after_; }

  // If the listener's files have changed since, verifies the certificate against the current client authority, once.
  absl::Status Check() const override;
  absl::Status CheckAge() const override;

 private:
  bool IsTrusted() const;

  const ListenerTls& tls_;
  const ConnectionLimits limits_;
  X509* const certificate_;       // nullptr without a certificate
  STACK_OF(X509) * const chain_;  // the certificates that the peer sent
  const SubjectNames names_;
  const absl::Time not_after_;
  const absl::Duration since_;
  // The version of the listener's files under which the chain was last verified, times 2, plus 1 if it was valid.
  mutable std::atomic<uint64_t> verdict_ = 0;
};

// The age only, for connections whose peer was identified by the kernel. Thread-safe.
class ConnectionAge final : public ConnectionStanding {
 public:
  explicit ConnectionAge(ConnectionLimits limits);
  absl::Status Check() const override { return absl::OkStatus(); }
  absl::Status CheckAge() const override;

 private:
  const ConnectionLimits limits_;
  const absl::Duration since_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_LISTEN_TLS_PEER_H_
