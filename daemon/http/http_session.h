// SPDX-License-Identifier: Apache-2.0
//
// One connection: handshake where there is one, then request and answer in turn until either side has enough.
//   MakeTlsSession(std::move(socket), tls, shared)->Run();
//   MakeLocalSession(std::move(socket), shared)->Run();
#ifndef SIDEBAND_DAEMON_HTTP_HTTP_SESSION_H_
#define SIDEBAND_DAEMON_HTTP_HTTP_SESSION_H_

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "daemon/http/connection_table.h"
#include "daemon/http/http_message.h"
#include "daemon/http/http_server.h"

namespace sideband::daemon {

// Who keeps the connections. Called on the session's own executor; thread-safe.
class HttpSessionOwner {
 public:
  virtual ~HttpSessionOwner() = default;
  // The peer has sent its first bytes.
  virtual void OnSpeaks(ConnectionTable::Id id) = 0;
  // The handshake has failed, or timed out.
  virtual void OnHandshakeFailed(ConnectionTable::Id id) = 0;
  // Whether the peer, whose handshake is over, may stay.
  virtual bool MayStay(ConnectionTable::Id id, const ConnectionTable::Holder& holder) = 0;
  // Likewise, as a request has shown whose the connection is.
  virtual bool MayStayAs(ConnectionTable::Id id, const ConnectionTable::Holder& holder) = 0;
  virtual void SetBusy(ConnectionTable::Id id, bool busy) = 0;
  // It is destroyed.
  virtual void OnEnd(ConnectionTable::Id id) = 0;
};

// What every session of a server works with; all of it must outlive them.
struct HttpSessionContext {
  const HttpServer::Options& options;
  const HttpHandler& handler;
  HttpSessionOwner& owner;
};

// Lives while an operation is under way. Everything happens on the socket's executor, which must be a strand; Run, Stop
// and Abort may be called from any thread.
class HttpSession {
 public:
  virtual ~HttpSession() = default;

  virtual void Run() = 0;
  // Ends after the answer under way, at once where there is none.
  virtual void Stop() = 0;
  // Closes the socket, whatever is under way.
  virtual void Abort() = 0;
};

std::shared_ptr<HttpSession> MakeTlsSession(ConnectionTable::Id id, boost::asio::ip::tcp::socket socket,
                                            std::shared_ptr<boost::asio::ssl::context> tls, HttpSessionContext context);
// The peer, of number `user`, must have been found to be a local operator.
std::shared_ptr<HttpSession> MakeLocalSession(ConnectionTable::Id id,
                                              boost::asio::local::stream_protocol::socket socket, uint32_t user,
                                              HttpSessionContext context);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_HTTP_SESSION_H_
