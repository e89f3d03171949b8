// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/http_exchange.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/status.hpp>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "daemon/identity/token_verifier.h"

namespace sideband::daemon {
namespace {

namespace http = boost::beast::http;
using ErrorCode = boost::beast::error_code;

int ReadErrorStatus(const ErrorCode& error) {
  if (error == http::error::header_limit) return 431;
  if (error == http::error::body_limit) return 413;
  return 400;
}

std::string TextOf(boost::beast::string_view text) { return {text.data(), text.size()}; }

absl::string_view ReasonOf(int status) {
  const auto reason = http::obsolete_reason(static_cast<http::status>(status));
  return {reason.data(), reason.size()};
}

HttpResponse FixedResponse(int status, const char* text) { return {.status = status, .body = Body::Of(text)}; }

// nullopt without an Authorization field. Two fields are ambiguous: they count as an empty token, which is rejected.
std::optional<std::string> TokenOf(const http::fields& fields) {
  const auto count = fields.count(http::field::authorization);
  if (count == 0) return std::nullopt;
  return count == 1 ? BearerToken(TextOf(fields[http::field::authorization])) : "";
}

// The same for a field that beast does not have.
std::optional<std::string> SessionTokenOf(const http::fields& fields) {
  const auto count = fields.count("X-Auth-Token");
  if (count == 0) return std::nullopt;
  return count == 1 ? TextOf(fields["X-Auth-Token"]) : "";
}

void AddField(std::string& header, absl::string_view name, absl::string_view value) {
  absl::StrAppend(&header, name, ": ", value, "\r\n");
}

// Omits the field where it would repeat the default of the HTTP version.
void AddConnection(std::string& header, unsigned version, bool keep_alive) {
  if (version >= 11 && !keep_alive) AddField(header, "Connection", "close");
  if (version < 11 && keep_alive) AddField(header, "Connection", "keep-alive");
}

void AddFields(std::string& header, const HttpResponse& response) {
  AddField(header, "Server", "sidebandd");
  AddField(header, "Content-Type", response.content_type);
  if (!response.content_encoding.empty()) AddField(header, "Content-Encoding", response.content_encoding);
  // Answers differ by caller; a shared cache must not store them.
  AddField(header, "Cache-Control", "no-store");
  // Text that a device has chosen must not be taken for HTML.
  AddField(header, "X-Content-Type-Options", "nosniff");
  AddField(header, "Content-Security-Policy", response.content_security_policy);
  AddField(header, "Referrer-Policy", "no-referrer");
  for (const auto& [name, value] : response.fields) AddField(header, name, value);
  // RFC 9110 demands these fields with these statuses (sections 15.5.6 and 15.5.2).
  if (response.status == 405) AddField(header, "Allow", "GET, HEAD");
  if (response.status == 401) AddField(header, "WWW-Authenticate", "Bearer");
  AddField(header, "Content-Length", absl::StrCat(response.body.size()));
}

bool IsPort(absl::string_view text) {
  return !text.empty() && text.size() <= 5 && std::ranges::all_of(text, absl::ascii_isdigit);
}

// Whether the text is HOST or HOST:PORT, with a name or an IPv4 address, or an IPv6 address in brackets (RFC 9110,
// section 7.2). Also where it is empty: a client that knows no host sends such a field.
bool IsHost(absl::string_view text) {
  const size_t begin_of_port = text.rfind(':');
  const bool has_port =
      begin_of_port != absl::string_view::npos && text.find(']', begin_of_port) == absl::string_view::npos;
  if (has_port && !IsPort(text.substr(begin_of_port + 1))) return false;
  absl::string_view host = has_port ? text.substr(0, begin_of_port) : text;
  if (absl::ConsumePrefix(&host, "[")) {
    return absl::ConsumeSuffix(&host, "]") &&
           host.find_first_not_of("0123456789abcdefABCDEF:.") == absl::string_view::npos;
  }
  const auto is_plain = [](char c) { return absl::ascii_isalnum(c) || absl::StrContains("-._~", c); };
  return std::ranges::all_of(host, is_plain) && !(host.empty() && has_port);
}

// The target of a request as path and query, and the host that it is for.
struct Destination {
  std::string target, host;
};

// RFC 9112, section 3.2.2: of a target in absolute form, its own host counts.
Destination DestinationOf(std::string target, std::string host) {
  const std::string lower = absl::AsciiStrToLower(target.substr(0, 8));
  const size_t scheme = absl::StartsWith(lower, "http://") ? 7 : lower == "https://" ? 8 : 0;
  if (scheme == 0) return {std::move(target), std::move(host)};
  const size_t end = std::min(target.find_first_of("/?", scheme), target.size());
  const std::string rest = target.substr(end);
  return {absl::StartsWith(rest, "/") ? rest : "/" + rest, target.substr(scheme, end - scheme)};
}

}  // namespace

class HttpExchange::Parser : public http::request_parser<http::empty_body> {
 public:
  Parser() { header_limit(kHttpHeaderBytesMax); }

  bool has_body() const { return chunked() || content_length().value_or(0) != 0; }
  bool is(http::verb method) const { return get().method() == method; }
  // RFC 9112, section 3.2.
  bool has_bad_host() const {
    const size_t count = get().count(http::field::host);
    return count > 1 || (count == 0 && get().version() >= 11) || !IsHost(TextOf(get()[http::field::host]));
  }
  size_t fields() const { return std::distance(get().begin(), get().end()); }
  // Beast ignores a Transfer-Encoding that does not end in "chunked", and would parse the body as the next request
  // (request smuggling).
  bool has_unknown_coding() const {
    const size_t count = get().count(http::field::transfer_encoding);
    if (count == 0) return false;
    return count > 1 || !boost::beast::iequals(get()[http::field::transfer_encoding], "chunked");
  }
};

HttpExchange::HttpExchange(Credentials credentials, const HttpHandler& handler)
    : credentials_(std::move(credentials)), handler_(handler), parser_(std::make_unique<Parser>()) {}

HttpExchange::~HttpExchange() = default;

void HttpExchange::Feed(absl::string_view bytes) {
  buffer_.append(bytes.data(), bytes.size());
  if (!buffer_.empty()) is_idle_ = false;
}

std::optional<HttpExchange::Answer> HttpExchange::Next() {
  while (!is_over_ && !parser_->is_header_done() && !buffer_.empty()) {
    ErrorCode error;
    // Stops at the end of the header: pipelined requests stay in buffer_.
    const size_t consumed = parser_->put(boost::asio::buffer(std::as_const(buffer_)), error);
    NoteFolds(absl::string_view(buffer_).substr(0, consumed));
    buffer_.erase(0, consumed);
    header_bytes_ += consumed;
    const bool needs_more = error == http::error::need_more;
    // The parser applies its limit to the start line and to the fields separately; this one covers both.
    if (header_bytes_ + (needs_more ? buffer_.size() : 0) > kHttpHeaderBytesMax) error = http::error::header_limit;
    if (error == http::error::need_more) return std::nullopt;
    // Where the next request would begin is unknown after an error: the answer is the last one.
    if (error) return Refuse(ReadErrorStatus(error), "the request is malformed or too large\n");
  }
  if (is_over_ || !parser_->is_header_done()) return std::nullopt;
  Answer answer = Handle();
  parser_ = std::make_unique<Parser>();
  header_bytes_ = 0;
  last_byte_ = '\0';
  is_idle_ = buffer_.empty();
  return answer;
}

// Beast joins folded lines (obs-fold), where a proxy in front may see two fields. RFC 9112, section 5.2 requires
// rejection.
void HttpExchange::NoteFolds(absl::string_view consumed) {
  for (const char byte : consumed) {
    has_fold_ |= last_byte_ == '\n' && (byte == ' ' || byte == '\t');
    last_byte_ = byte;
  }
}

HttpExchange::Answer HttpExchange::Handle() {
  if (parser_->fields() > kHttpHeaderFieldsMax) return Refuse(431, "the request has too many fields\n");
  if (has_fold_) return Refuse(400, "a field continues on a second line\n");
  if (parser_->has_bad_host()) return Refuse(400, "a request needs exactly one Host field, with HOST or HOST:PORT\n");
  if (parser_->has_unknown_coding()) return Refuse(501, "unknown Transfer-Encoding; only chunked is supported\n");
  const auto& request = parser_->get();
  // Other methods with a body go to the handler, which answers 405; the connection is closed below.
  const bool is_read = parser_->is(http::verb::get) || parser_->is(http::verb::head);
  if (is_read && parser_->has_body()) return Refuse(413, "a body is not accepted\n");
  Destination destination = DestinationOf(TextOf(request.target()), TextOf(request[http::field::host]));
  if (!IsHost(destination.host)) return Refuse(400, "the target does not name HOST or HOST:PORT\n");
  Credentials credentials = credentials_;
  credentials.bearer_token = TokenOf(request);
  const bool is_young = credentials_.connection == nullptr || credentials_.connection->CheckAge().ok();
  HttpResponse response = handler_({.method = TextOf(request.method_string()),
                                    .target = std::move(destination.target),
                                    .host = std::move(destination.host),
                                    .accept = TextOf(request[http::field::accept]),
                                    .accept_encoding = TextOf(request[http::field::accept_encoding]),
                                    .odata_version = TextOf(request["OData-Version"]),
                                    .session_token = SessionTokenOf(request),
                                    .credentials = std::move(credentials)});
  // A body is never read, so the next request after it cannot be found.
  keep_alive_ = request.keep_alive() && !parser_->has_body() && is_young;
  NoteRequest();
  return Complete(std::move(response));
}

// 1.1 also where the request could not be parsed.
void HttpExchange::NoteRequest() {
  version_ = parser_->get().version() == 10 ? 10 : 11;
  is_head_ = parser_->is(http::verb::head);
}

HttpExchange::Answer HttpExchange::Complete(HttpResponse response) {
  if (response.work != nullptr) return {.identity = std::move(response.identity), .work = std::move(response.work)};
  // Callers who are not authorized do not keep connections that others may need.
  if (response.status == 401 || response.status == 403) keep_alive_ = false;
  return Compose(std::move(response));
}

HttpExchange::Answer HttpExchange::Refuse(int status, const char* why) {
  keep_alive_ = false;
  NoteRequest();
  return Compose(FixedResponse(status, why));
}

HttpExchange::Answer HttpExchange::Compose(HttpResponse response) {
  Answer answer{.keep_alive = keep_alive_, .identity = std::move(response.identity)};
  answer.header = absl::StrCat("HTTP/1.", version_ - 10, " ", response.status, " ", ReasonOf(response.status), "\r\n");
  AddConnection(answer.header, version_, keep_alive_);
  AddFields(answer.header, response);
  answer.header.append("\r\n");
  // An answer to HEAD has the header of GET, with its Content-Length, and no body.
  if (!is_head_) answer.body = std::move(response.body);
  is_over_ = !keep_alive_;
  return answer;
}

}  // namespace sideband::daemon
