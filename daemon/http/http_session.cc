// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/http_session.h"

#include <openssl/ssl.h>

#include <array>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/ssl/stream_base.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/write.hpp>
#include <chrono>
#include <string>
#include <utility>

#include "daemon/authz/bearer.h"
#include "daemon/http/peer_names.h"

namespace sideband::daemon {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr std::chrono::seconds kShutdownTimeout{2};

std::chrono::nanoseconds Timeout(absl::Duration duration) { return absl::ToChronoNanoseconds(duration); }

// The status for a request that could not be parsed; 0 where the peer just went away.
int StatusOf(const beast::error_code& error) {
  if (error == http::error::header_limit) return 431;
  if (error == http::error::body_limit) return 413;
  if (error == http::error::end_of_stream || error == http::error::partial_message) return 0;
  return error.category() == http::make_error_code(http::error::end_of_stream).category() ? 400 : 0;
}

// How Beast writes a Body: its three parts in turn, from where they are.
struct BodyInParts {
  using value_type = Body;
  static uint64_t size(const value_type& body) { return body.size(); }

  class writer {
   public:
    using const_buffers_type = std::array<boost::asio::const_buffer, 3>;

    template <bool is_request, typename Fields>
    writer(const http::header<is_request, Fields>&, const value_type& body) : body_(body) {}
    void init(beast::error_code& error) { error = {}; }
    boost::optional<std::pair<const_buffers_type, bool>> get(beast::error_code& error) {
      error = {};
      const_buffers_type parts = {boost::asio::buffer(body_.head),
                                  boost::asio::buffer(body_.shared.data(), body_.shared.size()),
                                  boost::asio::buffer(body_.tail)};
      return {{parts, /*more=*/false}};
    }

   private:
    const Body& body_;
  };
};

HttpResponse FixedResponse(int status, const char* text) { return {.status = status, .body = Body::Of(text)}; }

void SetFields(http::fields& fields, const HttpResponse& response) {
  fields.set(http::field::server, "sidebandd");
  fields.set(http::field::content_type, response.content_type);
  if (!response.content_encoding.empty()) fields.set(http::field::content_encoding, response.content_encoding);
  // What one caller may see must not be kept for another.
  fields.set(http::field::cache_control, "no-store");
  fields.set("X-Content-Type-Options", "nosniff");
  fields.set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'");
  if (response.status == 405) fields.set(http::field::allow, "GET, HEAD");
  if (response.status == 401) fields.set(http::field::www_authenticate, "Bearer");
}

// nullopt without an Authorization field; of two, neither counts.
std::optional<std::string> TokenOf(const http::fields& fields) {
  const auto count = fields.count(http::field::authorization);
  if (count == 0) return std::nullopt;
  return count == 1 ? BearerToken(std::string(fields[http::field::authorization])) : "";
}

}  // namespace

HttpSession::HttpSession(boost::asio::ip::tcp::socket socket, boost::asio::ssl::context& tls,
                         const HttpServer::Options& options, const HttpHandler& handler,
                         std::function<void(HttpSession*)> on_end)
    : stream_(std::move(socket), tls), options_(options), handler_(handler), on_end_(std::move(on_end)) {}

HttpSession::~HttpSession() { on_end_(this); }

void HttpSession::Run() {
  boost::asio::dispatch(stream_.get_executor(), [self = shared_from_this()] { self->Handshake(); });
}

void HttpSession::Stop() {
  boost::asio::dispatch(stream_.get_executor(), [self = shared_from_this()] {
    self->is_stopping_ = true;
    if (self->is_waiting_) beast::get_lowest_layer(self->stream_).cancel();
  });
}

void HttpSession::Abort() {
  boost::asio::dispatch(stream_.get_executor(), [self = shared_from_this()] {
    self->is_stopping_ = true;
    beast::get_lowest_layer(self->stream_).close();
  });
}

void HttpSession::Handshake() {
  if (is_stopping_) return;
  is_waiting_ = true;
  beast::get_lowest_layer(stream_).expires_after(Timeout(options_.handshake_timeout));
  stream_.async_handshake(boost::asio::ssl::stream_base::server,
                          [self = shared_from_this()](ErrorCode error) { self->OnHandshake(error); });
}

void HttpSession::OnHandshake(ErrorCode error) {
  if (error || is_stopping_) return;
  peer_ = PeerNames(SSL_get0_peer_certificate(stream_.native_handle()));
  ReadHeader();
}

void HttpSession::ReadHeader() {
  is_waiting_ = true;
  parser_.emplace();
  parser_->header_limit(kHttpHeaderBytesMax);
  beast::get_lowest_layer(stream_).expires_after(Timeout(options_.header_timeout));
  http::async_read_header(stream_, buffer_, *parser_,
                          [self = shared_from_this()](ErrorCode error, size_t) { self->OnHeader(error); });
}

void HttpSession::OnHeader(ErrorCode error) {
  is_waiting_ = false;
  if (is_stopping_ || error == http::error::end_of_stream) return Shutdown();
  if (error) return Refuse(error);
  Answer();
}

void HttpSession::Refuse(ErrorCode error) {
  const int status = StatusOf(error);
  if (status != 0) Write(FixedResponse(status, "the request is malformed or too large\n"), /*keep_alive=*/false);
}

void HttpSession::Answer() {
  const auto& request = parser_->get();
  HttpRequest plain{.method = std::string(request.method_string()),
                    .target = std::string(request.target()),
                    .accept = std::string(request[http::field::accept]),
                    .accept_encoding = std::string(request[http::field::accept_encoding]),
                    .credentials = {.certificate = peer_, .bearer_token = TokenOf(request)}};
  // A body is never read, so that where there is one the next request cannot be found.
  const bool has_body = parser_->chunked() || parser_->content_length().value_or(0) != 0;
  const bool keep_alive = request.keep_alive() && !has_body;
  const bool is_read = plain.method == "GET" || plain.method == "HEAD";
  Write(has_body && is_read ? FixedResponse(413, "a body is not accepted\n") : handler_(plain), keep_alive);
}

void HttpSession::Write(HttpResponse response, bool keep_alive) {
  const unsigned version = parser_->get().version();
  keep_alive = keep_alive && !is_stopping_;
  const size_t size = response.body.size();
  const auto finish = [&](auto message) {
    message->keep_alive(keep_alive);
    message->content_length(size);
    WriteMessage(std::move(message));
  };
  const auto status = static_cast<http::status>(response.status);
  if (parser_->get().method() == http::verb::head) {
    auto message = std::make_shared<http::response<http::empty_body>>(status, version);
    SetFields(*message, response);
    return finish(std::move(message));
  }
  auto message = std::make_shared<http::response<BodyInParts>>(status, version);
  SetFields(*message, response);
  message->body() = std::move(response.body);
  finish(std::move(message));
}

template <typename Message>
void HttpSession::WriteMessage(std::shared_ptr<Message> message) {
  beast::get_lowest_layer(stream_).expires_after(Timeout(options_.write_timeout));
  auto& written = *message;
  http::async_write(stream_, written,
                    [self = shared_from_this(), message = std::move(message)](ErrorCode error, size_t) {
                      self->OnWritten(error, message->keep_alive());
                    });
}

void HttpSession::OnWritten(ErrorCode error, bool keep_alive) {
  if (error) return;
  if (!keep_alive || is_stopping_) return Shutdown();
  ReadHeader();
}

void HttpSession::Shutdown() {
  beast::get_lowest_layer(stream_).expires_after(kShutdownTimeout);
  stream_.async_shutdown([self = shared_from_this()](ErrorCode) {});
}

}  // namespace sideband::daemon
