// SPDX-License-Identifier: Apache-2.0
//
// A small HTTP/1.1 server for other programs of the same machine.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto server, LoopbackServer::Listen("127.0.0.1:9879", [](absl::string_view path) {
//     return path == "/metrics" ? HttpReply{.body = Metrics()} : HttpReply{.status = 404, .body = "not found\n"};
//   }));
#ifndef SIDEBAND_CLIENT_CLI_LOOPBACK_SERVER_H_
#define SIDEBAND_CLIENT_CLI_LOOPBACK_SERVER_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sideband::client {

struct HttpReply {
  unsigned status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};

// The server neither encrypts nor authenticates: every user of the machine can read what it serves. A web page in a
// browser of the machine cannot: the server refuses requests for other hosts than localhost and loopback addresses
// (421), so that no other name may be made to mean it. One thread; at most kConnectionsMax connections, of one request
// each, which must be there within 2 s and be answered within 10 s. A connection beyond the bound takes the place of
// the oldest whose request is not whole, or else of the oldest.
class LoopbackServer {
 public:
  static constexpr size_t kConnectionsMax = 32;

  // Answers GET and HEAD. The server's thread calls it. `path` has no query.
  using Handler = std::function<HttpReply(absl::string_view path)>;

  // `address` is IP:PORT, with an IPv6 address in brackets; port 0 is any. INVALID_ARGUMENT: malformed, or not a
  // loopback address. UNAVAILABLE: the port cannot be used.
  static absl::StatusOr<std::unique_ptr<LoopbackServer>> Listen(const std::string& address, Handler handler);
  // Closes all connections.
  ~LoopbackServer();
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  // IP:PORT with the port in use.
  std::string address() const;

 private:
  class Impl;
  explicit LoopbackServer(std::unique_ptr<Impl> impl);

  const std::unique_ptr<Impl> impl_;
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_LOOPBACK_SERVER_H_
