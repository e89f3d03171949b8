// SPDX-License-Identifier: Apache-2.0
//
// HTTP/1.1 over mutual TLS. A client without a certificate from the configured CA does not get past the handshake.
//   SIDEBAND_ASSIGN_OR_RETURN(auto server, HttpServer::Start({.listener = config.http}, handler));
//   server->port();   // the chosen one where the configuration says 0
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

namespace sideband::daemon {

inline constexpr size_t kHttpHeaderBytesMax = 8192;
inline constexpr size_t kHttpConnectionsMax = 1024;

// Thread-safe. The handler is called on the server's threads until Stop() returns.
class HttpServer {
 public:
  struct Options {
    ListenerConfig listener;
    int threads = 1;
    size_t connections_max = kHttpConnectionsMax;  // beyond it a new connection is closed at once
    absl::Duration handshake_timeout = absl::Seconds(10);
    absl::Duration header_timeout = absl::Seconds(60);  // also how long an idle connection is kept
    absl::Duration write_timeout = absl::Seconds(30);
    absl::Duration stop_grace = absl::Seconds(2);  // for answers under way when Stop() is called
  };

  // INVALID_ARGUMENT where a TLS file is not what it should be; UNAVAILABLE "http: cannot listen on ADDRESS: why".
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(Options options, HttpHandler handler);
  // Stops.
  ~HttpServer();

  uint16_t port() const;
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
