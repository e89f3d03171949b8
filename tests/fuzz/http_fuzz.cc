// SPDX-License-Identifier: Apache-2.0
//
// An HTTP client's bytes on a connection. Every answer is well-formed and has a status of the server, for any number of
// requests. Bytes at once and bytes one by one yield the same requests and answers. (A final rejection may come earlier
// or later, and as malformed or as too large.)
#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "daemon/http/http_exchange.h"
#include "tests/fuzz/fuzz_target.h"

namespace sideband::fuzz {
namespace {

using daemon::Body;
using daemon::HttpExchange;
using daemon::HttpRequest;
using daemon::HttpResponse;

// The body describes the request as parsed; no part of the request may appear in an answer's header.
HttpResponse Describe(const HttpRequest& request) {
  FUZZ_CHECK(!request.method.empty() && !request.target.empty());
  const size_t size = request.method.size() + request.target.size() + request.accept.size();
  FUZZ_CHECK(size + request.accept_encoding.size() <= daemon::kHttpHeaderBytesMax);
  return {.status = request.method == "GET" || request.method == "HEAD" ? 200 : 405,
          .body = Body::Of(
              absl::StrCat(request.method, " ", request.target, " ", request.accept, " ", request.accept_encoding))};
}

bool IsOurs(absl::string_view header) {
  if (!absl::StartsWith(header, "HTTP/1.1 ") && !absl::StartsWith(header, "HTTP/1.0 ")) return false;
  const absl::string_view status = header.substr(9, 4);
  return status == "200 " || status == "400 " || status == "405 " || status == "413 " || status == "431 " ||
         status == "501 ";
}

void CheckAnswer(const HttpExchange::Answer& answer) {
  FUZZ_CHECK(IsOurs(answer.header));
  FUZZ_CHECK(answer.header.find("\r\n\r\n") == answer.header.size() - 4);
  if (answer.body.size() == 0) return;
  FUZZ_CHECK(absl::StrContains(answer.header, absl::StrCat("Content-Length: ", answer.body.size(), "\r\n")));
}

bool IsRefusal(const HttpExchange::Answer& answer) {
  const absl::string_view status = absl::string_view(answer.header).substr(9, 3);
  return status == "400" || status == "431" || status == "501";
}

// The answers to `bytes` in pieces of `piece` bytes, without a rejection at the end.
std::string Answers(absl::string_view bytes, size_t piece) {
  const daemon::HttpHandler handler = Describe;
  HttpExchange exchange({}, handler);
  std::string all;
  while (!bytes.empty()) {
    exchange.Feed(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    while (const auto answer = exchange.Next()) {
      CheckAnswer(*answer);
      if (IsRefusal(*answer)) FUZZ_CHECK(!answer->keep_alive);
      if (!IsRefusal(*answer)) absl::StrAppend(&all, answer->header, answer->body.ToString());
      if (!answer->keep_alive) {
        FUZZ_CHECK(!exchange.Next());
        return all;
      }
    }
  }
  return all;
}

std::vector<Bytes> Seeds() {
  return {
      BytesOf("GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: text/plain;version=0.0.4\r\nAccept-Encoding: gzip\r\n\r\n"),
      BytesOf("HEAD / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /-/ready HTTP/1.1\r\n\r\n"),
      BytesOf("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhelloGET / HTTP/1.1\r\n\r\n"),
      BytesOf("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
      BytesOf("GET / HTTP/1.1\r\nAuthorization: Bearer a.b.c\r\nX: a\r\n b\r\n\r\n"),
      BytesOf(absl::StrCat("GET / HTTP/1.1\r\nX: ", std::string(daemon::kHttpHeaderBytesMax, 'x'), "\r\n\r\n")),
      BytesOf("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  };
}

int RunInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string whole = Answers(bytes, size);
  FUZZ_CHECK(whole == Answers(bytes, 1));
  FUZZ_CHECK(whole == Answers(bytes, 7));
  return 0;
}

FUZZ_TARGET(http_fuzz);

}  // namespace
}  // namespace sideband::fuzz
