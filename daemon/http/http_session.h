// SPDX-License-Identifier: Apache-2.0
//
// One connection: handshake, then request and answer in turn until either side has enough.
//   std::make_shared<HttpSession>(std::move(socket), tls, options, handler, on_end)->Run();
#ifndef SIDEBAND_DAEMON_HTTP_HTTP_SESSION_H_
#define SIDEBAND_DAEMON_HTTP_HTTP_SESSION_H_

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <functional>
#include <memory>
#include <optional>

#include "daemon/http/http_message.h"
#include "daemon/http/http_server.h"

namespace sideband::daemon {

// Lives while an operation is under way. Everything happens on the socket's executor, which must be a strand; Run, Stop
// and Abort may be called from any thread.
class HttpSession : public std::enable_shared_from_this<HttpSession> {
 public:
  // `tls`, `options` and `handler` must outlive the session. `on_end` is called when it is destroyed.
  HttpSession(boost::asio::ip::tcp::socket socket, boost::asio::ssl::context& tls, const HttpServer::Options& options,
              const HttpHandler& handler, std::function<void(HttpSession*)> on_end);
  ~HttpSession();

  void Run();
  // Ends after the answer under way, at once where there is none.
  void Stop();
  // Closes the socket, whatever is under way.
  void Abort();

 private:
  using ErrorCode = boost::beast::error_code;
  using RequestParser = boost::beast::http::request_parser<boost::beast::http::empty_body>;

  void Handshake();
  void OnHandshake(ErrorCode error);
  void ReadHeader();
  void OnHeader(ErrorCode error);
  void Refuse(ErrorCode error);
  void Answer();
  void Write(HttpResponse response, bool keep_alive);
  template <typename Message>
  void WriteMessage(std::shared_ptr<Message> message);
  void OnWritten(ErrorCode error, bool keep_alive);
  void Shutdown();

  boost::beast::ssl_stream<boost::beast::tcp_stream> stream_;
  const HttpServer::Options& options_;
  const HttpHandler& handler_;
  const std::function<void(HttpSession*)> on_end_;
  boost::beast::flat_buffer buffer_{2 * kHttpHeaderBytesMax};
  std::optional<RequestParser> parser_;  // a new one for each request
  SubjectNames peer_;
  bool is_waiting_ = false;  // for a handshake or a header: nothing is lost by stopping now
  bool is_stopping_ = false;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_HTTP_SESSION_H_
