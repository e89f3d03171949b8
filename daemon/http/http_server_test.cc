// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <atomic>
#include <thread>

#include "absl/synchronization/notification.h"
#include "daemon/config/fake_certificates.h"
#include "daemon/http/fake_http_client.h"

namespace sideband::daemon {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kGet[] = "GET /who HTTP/1.1\r\nHost: x\r\n\r\n";

// Answers with method, target and the first URI of the peer.
HttpResponse Echo(const HttpRequest& request) {
  if (request.method == "POST") return {.status = 405, .body = Body::Of("no\n")};
  const std::string who =
      request.credentials.certificate.uris.empty() ? "nobody" : request.credentials.certificate.uris[0];
  return {.body = Body::Of(request.method + " " + request.target + " " + who + "\n")};
}

class HttpServerTest : public testing::Test {
 protected:
  HttpServerTest() {
    options_.listener.listen = {"127.0.0.1", 0};
    options_.listener.tls = ca_.Server();
  }

  void Start(HttpHandler handler = Echo) {
    auto server = HttpServer::Start(options_, std::move(handler));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  std::string Exchange(const std::string& request) {
    FakeHttpClient client(server_->port(), ca_.ca_file(), &peer_);
    client.Send(request);
    return client.ReceiveResponse();
  }

  const FakeCa ca_{"ca", testing::TempDir()};
  const CertificateFiles peer_ = ca_.Issue("peer", "URI:spiffe://example.org/peer");
  HttpServer::Options options_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, AnswersTheVerifiedPeer) {
  Start();
  const std::string response = Exchange(kGet);
  EXPECT_THAT(response, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(response, HasSubstr("Cache-Control: no-store\r\n"));
  EXPECT_THAT(response, EndsWith("\r\n\r\nGET /who spiffe://example.org/peer\n"));
}

TEST_F(HttpServerTest, WithoutACertificateThereIsNoAnswer) {
  Start();
  FakeHttpClient client(server_->port(), ca_.ca_file(), nullptr);
  client.Send(kGet);
  EXPECT_EQ(client.ReceiveResponse(), "");
}

TEST_F(HttpServerTest, CarriesTheTokenAndTheChallenge) {
  Start([](const HttpRequest& request) -> HttpResponse {
    const auto& token = request.credentials.bearer_token;
    return {.status = 401, .body = Body::Of(token ? "<" + *token + ">" : "none")};
  });
  const auto ask = [this](const std::string& fields) { return Exchange("GET / HTTP/1.1\r\n" + fields + "\r\n"); };
  EXPECT_THAT(ask(""), AllOf(HasSubstr("\r\nWWW-Authenticate: Bearer\r\n"), EndsWith("none")));
  EXPECT_THAT(ask("Authorization: Bearer a.b.c\r\n"), EndsWith("<a.b.c>"));
  EXPECT_THAT(ask("authorization: bearer a.b.c\r\n"), EndsWith("<a.b.c>"));
  EXPECT_THAT(ask("Authorization: Basic YTpi\r\n"), EndsWith("<>"));
  EXPECT_THAT(ask("Authorization: Bearer a\r\nAuthorization: Bearer a\r\n"), EndsWith("<>")) << "neither counts";
}

TEST_F(HttpServerTest, AnotherCasCertificateIsRefused) {
  Start();
  const FakeCa other("other-ca", testing::TempDir());
  const CertificateFiles stranger = other.Issue("stranger", "URI:spiffe://example.org/peer");
  FakeHttpClient client(server_->port(), ca_.ca_file(), &stranger);
  client.Send(kGet);
  EXPECT_EQ(client.ReceiveResponse(), "");
}

TEST_F(HttpServerTest, Tls12OnlyWhereAllowed) {
  Start();
  EXPECT_FALSE(FakeHttpClient(server_->port(), ca_.ca_file(), &peer_, TLS1_2_VERSION).is_connected());
  options_.listener.tls.min_version = TlsVersion::kTls12;
  Start();
  EXPECT_TRUE(FakeHttpClient(server_->port(), ca_.ca_file(), &peer_, TLS1_2_VERSION).is_connected());
}

TEST_F(HttpServerTest, KeepsAConnection) {
  Start();
  FakeHttpClient client(server_->port(), ca_.ca_file(), &peer_);
  for (int i = 0; i < 3; ++i) {
    client.Send(kGet);
    EXPECT_THAT(client.ReceiveResponse(), EndsWith("peer\n"));
  }
  client.Send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(client.ReceiveResponse(), HasSubstr("Connection: close\r\n"));
  EXPECT_TRUE(client.IsClosed());
}

TEST_F(HttpServerTest, HeadHasNoBody) {
  Start();
  FakeHttpClient client(server_->port(), ca_.ca_file(), &peer_);
  client.Send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::string response = client.ReceiveResponse(/*is_head=*/true);
  EXPECT_THAT(response, HasSubstr("Content-Length: 33\r\n"));
  EXPECT_THAT(response, EndsWith("\r\n\r\n"));
  client.Send(kGet);
  EXPECT_THAT(client.ReceiveResponse(), StartsWith("HTTP/1.1 200")) << "nothing was left in between";
}

TEST_F(HttpServerTest, BadRequestsAreRefusedAndClosed) {
  Start();
  struct Case {
    std::string request;
    const char* start;
  };
  for (const Case& c : {
           Case{"hello\r\n\r\n", "HTTP/1.1 400"},
           Case{"GET / HTTP/1.1\r\nX: " + std::string(kHttpHeaderBytesMax, 'x') + "\r\n\r\n", "HTTP/1.1 431"},
           Case{"GET / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", "HTTP/1.1 413"},
           Case{"GET / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", "HTTP/1.1 413"},
           Case{"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "HTTP/1.1 413"},
           Case{"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", "HTTP/1.1 405"},
       }) {
    FakeHttpClient client(server_->port(), ca_.ca_file(), &peer_);
    client.Send(c.request);
    EXPECT_THAT(client.ReceiveResponse(), StartsWith(c.start)) << c.request.substr(0, 60);
    EXPECT_TRUE(client.IsClosed()) << c.request.substr(0, 60);
  }
}

TEST_F(HttpServerTest, LargeBodiesArriveWhole) {
  const auto body = std::make_shared<const std::string>(8 << 20, 'x');
  Start([&](const HttpRequest&) {
    return HttpResponse{.body = {.head = "h", .shared = *body, .owner = body, .tail = "t"}};
  });
  EXPECT_THAT(Exchange(kGet), EndsWith("\r\n\r\nh" + *body + "t"));
}

TEST_F(HttpServerTest, SlowHeadersAreCutOff) {
  options_.header_timeout = absl::Milliseconds(50);
  Start();
  FakeHttpClient client(server_->port(), ca_.ca_file(), &peer_);
  client.Send("GET / HTT");
  EXPECT_TRUE(client.IsClosed());
}

TEST_F(HttpServerTest, ConnectionsBeyondTheCapAreClosed) {
  options_.connections_max = 1;
  Start();
  FakeHttpClient first(server_->port(), ca_.ca_file(), &peer_);
  first.Send(kGet);
  EXPECT_THAT(first.ReceiveResponse(), EndsWith("peer\n"));
  EXPECT_FALSE(FakeHttpClient(server_->port(), ca_.ca_file(), &peer_).is_connected());
  first.Send(kGet);
  EXPECT_THAT(first.ReceiveResponse(), EndsWith("peer\n")) << "who is there stays";
}

TEST_F(HttpServerTest, ABusyPortIsSaidPlainly) {
  Start();
  options_.listener.listen.port = server_->port();
  const absl::Status status = HttpServer::Start(options_, Echo).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(),
            "http: cannot listen on " + options_.listener.listen.ToString() + ": Address already in use");
}

TEST_F(HttpServerTest, ABadFileIsNamed) {
  options_.listener.tls.key_file = peer_.key_file;
  const absl::Status status = HttpServer::Start(options_, Echo).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("peer.key: not the key of the certificate in"));
}

TEST_F(HttpServerTest, StopClosesIdleConnections) {
  Start();
  FakeHttpClient client(server_->port(), ca_.ca_file(), &peer_);
  client.Send(kGet);
  client.ReceiveResponse();
  std::jthread stopper([this] { server_->Stop(); });
  EXPECT_TRUE(client.IsClosed());
}

TEST_F(HttpServerTest, StopLetsAnAnswerFinish) {
  absl::Notification asked;
  absl::Notification go_on;
  Start([&](const HttpRequest& request) {
    asked.Notify();
    go_on.WaitForNotification();
    return Echo(request);
  });
  FakeHttpClient client(server_->port(), ca_.ca_file(), &peer_);
  client.Send(kGet);
  asked.WaitForNotification();
  std::jthread stopper([this] { server_->Stop(); });
  go_on.Notify();
  EXPECT_THAT(client.ReceiveResponse(), EndsWith("peer\n"));
  EXPECT_TRUE(client.IsClosed());
}

TEST_F(HttpServerTest, ManyClientsAtOnce) {
  options_.threads = 2;
  Start();
  std::atomic<int> good = 0;
  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < 8; ++i) {
      clients.emplace_back([&] {
        FakeHttpClient client(server_->port(), ca_.ca_file(), &peer_);
        for (int n = 0; n < 20; ++n) {
          client.Send(kGet);
          good += client.ReceiveResponse().ends_with("peer\n");
        }
      });
    }
  }
  EXPECT_EQ(good, 160);
}

}  // namespace
}  // namespace sideband::daemon
