// SPDX-License-Identifier: Apache-2.0
//
// HTTP/1.1 over mutual TLS, and for local operators on a Unix socket. A client without a certificate from the
// configured CA does not get past the handshake, unless the configuration has another way to know it.
//   SIDEBAND_ASSIGN_OR_RETURN(auto server, HttpServer::Start({.listener = config.http}, handler, *metrics));
//   server->port();   // the chosen one where the configuration says 0
//   server->CheckCertificates();   // every second
//   server->Stop();
#ifndef SIDEBAND_DAEMON_HTTP_HTTP_SERVER_H_
#define SIDEBAND_DAEMON_HTTP_HTTP_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/config/config.h"
#include "daemon/http/http_message.h"
#include "daemon/metrics/self_metrics.h"

namespace sideband::daemon {

inline constexpr size_t kHttpConnectionsMax = 512;
inline constexpr size_t kHttpHandshakesMax = 128;
inline constexpr size_t kHttpConnectionsPerIdentityMax = 64;  // and of one address where there is no identity

// Thread-safe. The handler is called on the server's threads until Stop() returns.
class HttpServer {
 public:
  struct Options {
    ListenerConfig listener;
    LocalOperators local_operators;
    int threads = 2;  // so that a large body, or a handshake, is not everybody's delay
    // What is beyond them: connection_table.h.
    size_t connections_max = kHttpConnectionsMax;
    size_t handshakes_max = kHttpHandshakesMax;
    size_t connections_per_identity_max = kHttpConnectionsPerIdentityMax;
    absl::Duration handshake_timeout = absl::Seconds(10);
    absl::Duration idle_timeout = absl::Minutes(5);  // a scraper that comes once in four minutes keeps its connection
    absl::Duration header_timeout = absl::Seconds(10);  // from its first byte to its last
    absl::Duration write_timeout = absl::Seconds(30);   // of a whole answer
    absl::Duration stop_grace = absl::Seconds(2);       // for answers under way when Stop() is called
  };

  // INVALID_ARGUMENT where a TLS file is not what it should be; UNAVAILABLE "http: cannot listen on ADDRESS: why".
  // `metrics` must outlive the server.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(Options options, HttpHandler handler, SelfMetrics& metrics);
  // Stops.
  ~HttpServer();

  // 0 where it listens on a Unix socket only.
  uint16_t port() const;
  // Looks whether the certificate files have changed (daemon/listen/listener_tls.h); what is read anew holds for new
  // connections. ReloadCertificates reads them in any case.
  void CheckCertificates();
  void ReloadCertificates();
  // Accepts no more, closes idle connections, lets answers under way finish for as long as stop_grace, and waits for
  // all that. May be called more than once.
  void Stop();

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_HTTP_SERVER_H_
