// SPDX-License-Identifier: Apache-2.0
//
// HTTP/1.1 over mutual TLS, and over a Unix socket for local operators. The handshake rejects clients without a
// certificate from the configured CA, unless the configuration makes client certificates optional (it then requires
// tokens).
//   SIDEBAND_ASSIGN_OR_RETURN(auto server, HttpServer::Start({.listener = config.http.listener}, handler, *metrics));
//   server->port();   // the actual port where the configuration has 0
//   server->CheckCertificates();   // every second
//   server->Stop();
#ifndef SIDEBAND_DAEMON_HTTP_HTTP_SERVER_H_
#define SIDEBAND_DAEMON_HTTP_HTTP_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/config/config.h"
#include "daemon/http/http_exchange.h"
#include "daemon/listen/throttle.h"
#include "daemon/listen/tls_peer.h"
#include "daemon/listen/work_queue.h"
#include "daemon/metrics/area_metrics.h"

namespace sideband::daemon {

inline constexpr size_t kHttpConnectionsMax = 512;
inline constexpr size_t kHttpHandshakesMax = 128;
inline constexpr size_t kHttpConnectionsPerIdentityMax = 64;  // or per address without an identity

// Thread-safe. The handler is called on the server's threads until Stop() returns. `work` must have stopped, and
// `throttle` must exist, when the server is destroyed.
class HttpServer {
 public:
  struct Options {
    ListenerConfig listener;
    LocalOperators local_operators;
    int inherited_socket = -1;  // listening TCP socket, owned by the server from then on; -1: opens `listener.listen`
    int threads = 2;            // a large body or a handshake occupies one thread, not all
    // Beyond these limits connections are evicted: connection_table.h.
    size_t connections_max = kHttpConnectionsMax;
    size_t handshakes_max = kHttpHandshakesMax;
    size_t connections_per_identity_max = kHttpConnectionsPerIdentityMax;
    absl::Duration handshake_timeout = absl::Seconds(10);
    absl::Duration idle_timeout = absl::Minutes(5);  // a scraper that comes once in four minutes keeps its connection
    absl::Duration header_timeout = absl::Seconds(10);  // from the first byte to the last
    absl::Duration write_timeout = absl::Seconds(30);   // of a whole answer
    ConnectionLimits limits;
    WorkQueue* work = nullptr;  // makes what takes more than a moment, but operators' scrapes; nullptr: the threads do
    HolderThrottle* throttle = nullptr;            // counts requests as streams; nullptr: their number is not bounded
    absl::Duration stop_grace = absl::Seconds(2);  // for answers under way when Stop() is called
  };

  // INVALID_ARGUMENT where a TLS file is unreadable or invalid; UNAVAILABLE "http: cannot listen on ADDRESS: why".
  // `metrics` must outlive the server.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(Options options, HttpHandler handler,
                                                           ListenerMetrics& metrics);
  // Stops.
  ~HttpServer();

  // The TCP port; 0 where the server listens on a Unix socket only.
  uint16_t port() const;
  // Reloads the certificate files if they have changed (daemon/listen/listener_tls.h), and closes connections whose
  // client certificate has expired or is no longer trusted. To be called every second. ReloadCertificates reads the
  // files even where they look unchanged.
  void CheckCertificates();
  void ReloadCertificates();
  // Runs `task` on a thread of the server, if one is free before Stop() returns.
  void Post(std::function<void()> task);
  // Stops accepting, closes idle connections, lets answers under way finish within stop_grace, aborts the rest, and
  // blocks until all have ended. Idempotent.
  void Stop();

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_HTTP_SERVER_H_
