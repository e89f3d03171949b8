// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/http_exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr char kGetText[] = "GET /a?b HTTP/1.1\r\nHost: x\r\nAccept: text/plain\r\n\r\n";

class HttpExchangeTest : public testing::Test {
 protected:
  static std::string Text(const HttpExchange::Answer& answer) { return answer.header + answer.body.ToString(); }

  // The status lines of all answers to `bytes`.
  std::vector<std::string> Statuses(const std::string& bytes) {
    HttpExchange exchange({}, handler_);
    exchange.Feed(bytes);
    std::vector<std::string> lines;
    while (const auto answer = exchange.Next()) lines.push_back(answer->header.substr(0, answer->header.find('\r')));
    return lines;
  }

  const HttpHandler handler_ = [this](const HttpRequest& request) {
    seen_.push_back(request);
    return HttpResponse{.status = request.method == "GET" || request.method == "HEAD" ? 200 : 405,
                        .body = Body::Of(request.target)};
  };
  std::vector<HttpRequest> seen_;
};

// The token that a request with these fields carries, in <>, or "none".
std::string TokenWith(const std::string& fields) {
  const HttpHandler handler = [](const HttpRequest& request) -> HttpResponse {
    const auto& token = request.credentials.bearer_token;
    return {.status = 401, .body = Body::Of(token ? "<" + *token + ">" : "none")};
  };
  HttpExchange exchange({}, handler);
  exchange.Feed("GET / HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n");
  const auto answer = exchange.Next();
  EXPECT_THAT(answer->header, HasSubstr("\r\nWWW-Authenticate: Bearer\r\n"));
  return answer->body.ToString();
}

TEST(HttpTokenTest, IsThatOfTheOneAuthorizationField) {
  EXPECT_EQ(TokenWith(""), "none");
  EXPECT_EQ(TokenWith("Authorization: Bearer a.b.c\r\n"), "<a.b.c>");
  EXPECT_EQ(TokenWith("authorization: bearer a.b.c\r\n"), "<a.b.c>");
  EXPECT_EQ(TokenWith("Authorization: Basic YTpi\r\n"), "<>");
  EXPECT_EQ(TokenWith("Authorization: Bearer a\r\nAuthorization: Bearer a\r\n"), "<>") << "neither counts";
}

TEST_F(HttpExchangeTest, ATokenIsOfItsRequestAlone) {
  HttpExchange exchange({}, handler_);
  exchange.Feed("GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n");
  while (exchange.Next()) {
  }
  ASSERT_EQ(seen_.size(), 2u);
  EXPECT_EQ(seen_[0].credentials.bearer_token, "a");
  EXPECT_EQ(seen_[1].credentials.bearer_token, std::nullopt);
}

TEST_F(HttpExchangeTest, FieldsOfRedfish) {
  HttpExchange exchange({}, handler_);
  for (const char* fields :
       {"", "X-Auth-Token: a\r\nOData-Version: 4.0\r\n", "x-auth-token: a\r\nX-Auth-Token: a\r\n"}) {
    exchange.Feed(absl::StrCat("GET / HTTP/1.1\r\nHost: x\r\n", fields, "\r\n"));
    ASSERT_TRUE(exchange.Next()) << fields;
  }
  EXPECT_EQ(seen_[0].session_token, std::nullopt);
  EXPECT_EQ(seen_[0].odata_version, "");
  EXPECT_EQ(seen_[1].session_token, "a");
  EXPECT_EQ(seen_[1].odata_version, "4.0");
  EXPECT_EQ(seen_[2].session_token, "") << "neither counts";
}

TEST(HttpFieldsTest, AreInTheHeaderOfHeadToo) {
  const HttpHandler handler = [](const HttpRequest&) -> HttpResponse { return {.fields = {{"OData-Version", "4.0"}}}; };
  HttpExchange exchange({}, handler);
  for (const char* method : {"GET", "HEAD"}) {
    exchange.Feed(absl::StrCat(method, " / HTTP/1.1\r\nHost: x\r\n\r\n"));
    EXPECT_THAT(exchange.Next()->header, HasSubstr("\r\nOData-Version: 4.0\r\n"));
  }
}

TEST_F(HttpExchangeTest, AnswersWhatIsAsked) {
  HttpExchange exchange({.local_operator = 1000}, handler_);
  EXPECT_TRUE(exchange.is_idle());
  exchange.Feed(kGetText);
  EXPECT_FALSE(exchange.is_idle());
  const auto answer = exchange.Next();
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->keep_alive);
  EXPECT_THAT(Text(*answer), StartsWith("HTTP/1.1 200 OK\r\nServer: sidebandd\r\n"));
  EXPECT_THAT(Text(*answer), EndsWith("Content-Length: 4\r\n\r\n/a?b"));
  EXPECT_EQ(seen_[0].accept, "text/plain");
  EXPECT_EQ(seen_[0].credentials.local_operator, 1000u);
  EXPECT_TRUE(exchange.is_idle());
  EXPECT_FALSE(exchange.Next());
}

TEST_F(HttpExchangeTest, PiecesMakeNoDifference) {
  HttpExchange exchange({}, handler_);
  const std::string bytes = kGetText;
  for (size_t i = 0; i + 1 < bytes.size(); ++i) {
    exchange.Feed(bytes.substr(i, 1));
    ASSERT_FALSE(exchange.Next()) << i;
    ASSERT_FALSE(exchange.is_idle());
  }
  exchange.Feed("\n");
  EXPECT_TRUE(exchange.Next());
}

TEST_F(HttpExchangeTest, PipelinedRequestsAreAnsweredInTurn) {
  EXPECT_THAT(Statuses(std::string(kGetText) + "PUT / HTTP/1.1\r\nHost: x\r\n\r\n" + kGetText + "GET"),
              ElementsAre("HTTP/1.1 200 OK", "HTTP/1.1 405 Method Not Allowed", "HTTP/1.1 200 OK"));
}

TEST_F(HttpExchangeTest, NothingFollowsTheLastAnswer) {
  const std::string close = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  EXPECT_THAT(Statuses(close + kGetText), ElementsAre("HTTP/1.1 200 OK"));
  EXPECT_THAT(Statuses(std::string("nonsense\r\n\r\n") + kGetText), ElementsAre("HTTP/1.1 400 Bad Request"));
}

TEST_F(HttpExchangeTest, Http10IsAnsweredInItsOwnTerms) {
  EXPECT_THAT(Statuses(std::string("GET / HTTP/1.0\r\n\r\n") + kGetText), ElementsAre("HTTP/1.0 200 OK"));
  HttpExchange exchange({}, handler_);
  exchange.Feed("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_THAT(exchange.Next()->header, HasSubstr("Connection: keep-alive\r\n"));
}

TEST_F(HttpExchangeTest, HeadHasItsLengthAndNoBody) {
  HttpExchange exchange({}, handler_);
  exchange.Feed("HEAD /abc HTTP/1.1\r\nHost: x\r\n\r\n");
  const auto answer = exchange.Next();
  EXPECT_EQ(answer->body.size(), 0u);
  EXPECT_THAT(answer->header, HasSubstr("Content-Length: 4\r\n"));
}

TEST_F(HttpExchangeTest, BoundsAreKept) {
  const auto with_field = [](size_t bytes) {
    const std::string start = "GET / HTTP/1.1\r\nHost: x\r\nX: ", end = "\r\n\r\n";
    return start + std::string(bytes - start.size() - end.size(), 'x') + end;
  };
  EXPECT_THAT(Statuses(with_field(kHttpHeaderBytesMax)), ElementsAre("HTTP/1.1 200 OK"));
  EXPECT_THAT(Statuses(with_field(kHttpHeaderBytesMax + 1)),
              ElementsAre("HTTP/1.1 431 Request Header Fields Too Large"));
  const auto with_fields = [](size_t count) {
    std::string request = "GET / HTTP/1.1\r\nHost: x\r\n";
    for (size_t i = 1; i < count; ++i) request += "A: b\r\n";
    return request + "\r\n";
  };
  EXPECT_THAT(Statuses(with_fields(kHttpHeaderFieldsMax)), ElementsAre("HTTP/1.1 200 OK"));
  EXPECT_THAT(Statuses(with_fields(kHttpHeaderFieldsMax + 1)),
              ElementsAre("HTTP/1.1 431 Request Header Fields Too Large"));
  EXPECT_THAT(Statuses("GET /" + std::string(2 * kHttpHeaderBytesMax, 'x')),
              ElementsAre("HTTP/1.1 431 Request Header Fields Too Large"));
}

// Ambiguous framing: a proxy in front and this parser could see different requests.
TEST_F(HttpExchangeTest, WhatIsAmbiguousIsRefused) {
  for (const char* fields : {
           "Content-Length: 5\r\nContent-Length: 6\r\n",           // two lengths
           "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",  // length and chunks
           "Content-Length: -1\r\n",
           "Content-Length: 5x\r\n",
           "Content-Length : 5\r\n",
           "X: a\r\n b\r\nY\r\n",  // a field without a colon
           "X: \x01\r\n",
           "\xff: y\r\n",
       }) {
    EXPECT_THAT(
        Statuses(std::string("GET / HTTP/1.1\r\nHost: x\r\n") + fields + "\r\nGET /second HTTP/1.1\r\nHost: x\r\n\r\n"),
        ElementsAre(testing::AnyOf("HTTP/1.1 400 Bad Request", "HTTP/1.1 413 Payload Too Large")))
        << fields;
  }
  EXPECT_THAT(seen_, testing::IsEmpty());
}

// RFC 9112, section 3.2.
TEST_F(HttpExchangeTest, ARequestIsForOneHost) {
  const std::string bad = "HTTP/1.1 400 Bad Request";
  EXPECT_THAT(Statuses("GET / HTTP/1.1\r\n\r\n"), ElementsAre(bad));
  EXPECT_THAT(Statuses("GET / HTTP/1.1\r\nHost: x\r\nhost: x\r\n\r\n"), ElementsAre(bad));
  EXPECT_THAT(Statuses("GET / HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n"), ElementsAre("HTTP/1.0 400 Bad Request"));
  for (const char* host :
       {"a b", "a/b", "\"", "<x>", "a:b", "a:", ":1", "a:123456", "[::1", "::1", "[x]", "a\xff", "a@b"}) {
    EXPECT_THAT(Statuses(absl::StrCat("GET / HTTP/1.1\r\nHost: ", host, "\r\n\r\n")), ElementsAre(bad)) << host;
  }
  EXPECT_TRUE(seen_.empty());
  for (const char* host : {"", "a", "A-1.example.org.", "a:9877", "127.0.0.1:1", "[::1]", "[fe80::1]:65535"}) {
    EXPECT_THAT(Statuses(absl::StrCat("GET / HTTP/1.1\r\nHost: ", host, "\r\n\r\n")), ElementsAre("HTTP/1.1 200 OK"));
    EXPECT_EQ(seen_.back().host, host);
  }
  EXPECT_THAT(Statuses("GET / HTTP/1.0\r\n\r\n"), ElementsAre("HTTP/1.0 200 OK"));
}

TEST_F(HttpExchangeTest, TheHostOfAnAbsoluteTargetCounts) {
  struct Row {
    const char *sent, *target, *host;
  };
  for (const Row& row :
       {Row{"http://a:1/metrics?x=/y", "/metrics?x=/y", "a:1"}, Row{"HTTPS://[::1]:2/", "/", "[::1]:2"},
        Row{"https://a", "/", "a"}, Row{"http://a?b=c", "/?b=c", "a"}, Row{"/http://a/", "/http://a/", "x"}}) {
    EXPECT_THAT(Statuses(absl::StrCat("GET ", row.sent, " HTTP/1.1\r\nHost: x\r\n\r\n")),
                ElementsAre("HTTP/1.1 200 OK"));
    EXPECT_EQ(seen_.back().target, row.target) << row.sent;
    EXPECT_EQ(seen_.back().host, row.host) << row.sent;
  }
  for (const char* target : {"http://a b/", "http://u:p@a/", "http://a:x/"}) {
    EXPECT_THAT(Statuses(absl::StrCat("GET ", target, " HTTP/1.1\r\nHost: x\r\n\r\n")),
                ElementsAre("HTTP/1.1 400 Bad Request"))
        << target;
  }
}

TEST_F(HttpExchangeTest, WhatIsNoHttpIsRefused) {
  for (const std::string& bytes : {
           std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
           std::string("GET / HTTP/3.7\r\n\r\n"),
           std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11),  // a TLS hello
           std::string("GET  / HTTP/1.1\r\nHost: x\r\n\r\n"),
           std::string("GET /\r\n\r\n"),
           std::string("GET / HTTP/1.1\nHost: x\n\n"),
           std::string(64, '\0'),
       }) {
    EXPECT_THAT(Statuses(bytes), testing::Each(StartsWith("HTTP/1.1 400"))) << bytes;
  }
}

TEST_F(HttpExchangeTest, ABodyEndsTheConnection) {
  HttpExchange exchange({}, handler_);
  exchange.Feed("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
  EXPECT_FALSE(exchange.Next()->keep_alive);
  EXPECT_FALSE(exchange.Next());
  EXPECT_THAT(Statuses("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"),
              ElementsAre("HTTP/1.1 413 Payload Too Large"));
}

TEST_F(HttpExchangeTest, WhatAClientSendsIsNotInTheHeader) {
  HttpExchange exchange({}, handler_);
  exchange.Feed("GET /%0d%0aSet-Cookie:x HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip;q=x,\t*, ,;;q=0.5\r\n\r\n");
  EXPECT_THAT(exchange.Next()->header, Not(HasSubstr("Set-Cookie")));
}

TEST_F(HttpExchangeTest, NoTransferEncodingButChunkedIsKnown) {
  for (const char* coding : {"gzip", "identity", "chunked, gzip", "gzip, chunked", "chunked, chunked", "xchunked",
                             "chunked;q=1", "", "chunked\r\nTransfer-Encoding: identity"}) {
    const std::string request = absl::StrCat("POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: ", coding,
                                             "\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n");
    const std::vector<std::string> statuses = Statuses(request);
    ASSERT_EQ(statuses.size(), 1u) << coding;
    EXPECT_THAT(statuses[0], testing::AnyOf(StartsWith("HTTP/1.1 501"), StartsWith("HTTP/1.1 400"))) << coding;
  }
  EXPECT_TRUE(seen_.empty());
  EXPECT_THAT(Statuses("POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n"),
              ElementsAre("HTTP/1.1 405 Method Not Allowed"));
  EXPECT_THAT(Statuses("GET /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n"),
              ElementsAre("HTTP/1.1 501 Not Implemented"));
}

TEST_F(HttpExchangeTest, AFoldedFieldIsRefused) {
  for (const char* fold : {" b", "\tb", "  Content-Length: 5"}) {
    for (const char* before : {"X: a\r\n", "X:\r\n"}) {
      EXPECT_THAT(Statuses(absl::StrCat("GET /a HTTP/1.1\r\nHost: x\r\n", before, fold, "\r\n\r\n", kGetText)),
                  ElementsAre("HTTP/1.1 400 Bad Request"));
    }
  }
  EXPECT_THAT(Statuses("GET /a HTTP/1.1\r\n Host: x\r\n\r\n"), ElementsAre("HTTP/1.1 400 Bad Request"));
  EXPECT_TRUE(seen_.empty());
  HttpExchange exchange({}, handler_);
  exchange.Feed("GET /a HTTP/1.1\r\nHost: x\r\nX: a\r\n");
  EXPECT_FALSE(exchange.Next());
  exchange.Feed(" b\r\n\r\n");
  EXPECT_THAT(exchange.Next()->header, StartsWith("HTTP/1.1 400")) << "in pieces, too";
}

}  // namespace
}  // namespace sideband::daemon
