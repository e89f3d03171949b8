// SPDX-License-Identifier: Apache-2.0
//
// One connection: the handshake, if any, then requests and answers in turn until either side closes.
//   MakeTlsSession(id, std::move(socket), tls, context)->Run();
//   MakeLocalSession(id, std::move(local_socket), user, context)->Run();
#ifndef SIDEBAND_DAEMON_HTTP_HTTP_SESSION_H_
#define SIDEBAND_DAEMON_HTTP_HTTP_SESSION_H_

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "daemon/http/http_exchange.h"
#include "daemon/http/http_server.h"
#include "daemon/listen/connection_table.h"
#include "daemon/listen/listener_tls.h"

namespace sideband::daemon {

// The owner of the sessions. Called on the session's executor; must be thread-safe.
class HttpSessionOwner {
 public:
  virtual ~HttpSessionOwner() = default;
  // The peer has sent its first bytes.
  virtual void OnSpeaks(ConnectionTable::Id id) = 0;
  // The handshake failed or timed out.
  virtual void OnHandshakeFailed(ConnectionTable::Id id) = 0;
  // The handshake is complete. Returns whether the connection may stay.
  virtual bool MayStay(ConnectionTable::Id id, const ConnectionTable::Holder& holder) = 0;
  // Whether the connection may stay after a request has shown its identity; until then it counted for its address.
  virtual bool MayStayAs(ConnectionTable::Id id, const ConnectionTable::Holder& holder) = 0;
  virtual void SetBusy(ConnectionTable::Id id, bool busy) = 0;
  // The first bytes of a request have arrived.
  virtual void SetArriving(ConnectionTable::Id id) = 0;
  // The connection is being closed for `reason`.
  virtual void OnBreach(ConnectionTable::Id id, const char* reason) = 0;
  // The session is destroyed.
  virtual void OnEnd(ConnectionTable::Id id) = 0;
};

// The dependencies that all sessions share; they must outlive the sessions.
struct HttpSessionContext {
  const HttpServer::Options& options;
  const HttpHandler& handler;
  HttpSessionOwner& owner;
  const ListenerTls* tls;  // nullptr without a network listener
};

// Keeps itself alive while an operation is pending. All work runs on the socket's executor, which must be a strand.
// Run, Stop, Abort and CheckStanding may be called from any thread.
class HttpSession {
 public:
  virtual ~HttpSession() = default;

  virtual void Run() = 0;
  // Whether the peer has sent bytes already. To be called before Run().
  virtual bool HasBytes() = 0;
  // Ends after the answer under way, or at once where the session is idle.
  virtual void Stop() = 0;
  // Closes the socket at once.
  virtual void Abort() = 0;
  // Stop() where the peer's certificate has expired or is no longer trusted, or the peer has sent too many KeyUpdates.
  virtual void CheckStanding() = 0;
};

std::shared_ptr<HttpSession> MakeTlsSession(ConnectionTable::Id id, boost::asio::ip::tcp::socket socket,
                                            std::shared_ptr<boost::asio::ssl::context> tls, HttpSessionContext context);
// `user` is the peer's uid, which the caller has verified as a local operator.
std::shared_ptr<HttpSession> MakeLocalSession(ConnectionTable::Id id,
                                              boost::asio::local::stream_protocol::socket socket, uint32_t user,
                                              HttpSessionContext context);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_HTTP_SESSION_H_
