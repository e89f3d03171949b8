// SPDX-License-Identifier: Apache-2.0
//
// Misbehaving peers of the HTTP listener; a well-behaved client is served throughout.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "daemon/config/fake_certificates.h"
#include "daemon/http/fake_http_client.h"
#include "daemon/http/http_server.h"
#include "daemon/metrics/expect_metric.h"
#include "proto/base/steady_time.h"
#include "proto/base/wait_until.h"

namespace sideband::daemon {
namespace {

using testing::EndsWith;
using testing::StartsWith;

// The server's time limits: a correct handshake on a loaded machine with sanitizers stays below.
constexpr absl::Duration kTimeLimit = absl::Seconds(1);
// Until what must happen after a time limit has happened, however loaded the machine is.
constexpr absl::Duration kBound = absl::Seconds(60);

HttpResponse Answer(const HttpRequest&) { return {.body = Body::Of("good\n")}; }

// A TCP connection without TLS.
class RawPeer {
 public:
  explicit RawPeer(uint16_t port) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval limit = absl::ToTimeval(kBound);
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    is_connected_ = connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  }
  ~RawPeer() { close(fd_); }
  RawPeer(const RawPeer&) = delete;
  RawPeer& operator=(const RawPeer&) = delete;

  bool is_connected() const { return is_connected_; }
  void Send(const std::string& bytes) const { static_cast<void>(!send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL)); }
  void FinishSending() const { shutdown(fd_, SHUT_WR); }
  // Waits until the server closes; false after kBound.
  bool IsClosed() const {
    char bytes[4096];
    ssize_t size = 0;
    while ((size = recv(fd_, bytes, sizeof(bytes), 0)) > 0) {
    }
    return size == 0 || errno == ECONNRESET;
  }

 private:
  const int fd_;
  bool is_connected_ = false;
};

class BadPeersTest : public testing::Test {
 protected:
  BadPeersTest() {
    options_.listener.listen = {"127.0.0.1", 0};
    options_.listener.tls = ca_.Server();
  }

  void Start(HttpHandler handler = Answer) {
    auto server = HttpServer::Start(options_, std::move(handler), *metrics_);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  std::unique_ptr<FakeHttpClient> Connect(const CertificateFiles& files) const {
    return std::make_unique<FakeHttpClient>(server_->port(), ca_.ca_file(), &files);
  }

  // A scraper that opens a new connection each time.
  void ExpectGoodIsAnswered() const {
    const auto client = Connect(good_);
    client->Send(kGetRoot);
    EXPECT_THAT(client->ReceiveResponse(), EndsWith("good\n"));
  }

  const FakeCa ca_{"ca", testing::TempDir()};
  const CertificateFiles good_ = ca_.Issue("good", "URI:spiffe://example.org/good");
  const CertificateFiles bad_ = ca_.Issue("bad", "URI:spiffe://example.org/bad");
  const std::unique_ptr<SelfMetrics> metrics_ = *SelfMetrics::Create({.version = "1"});
  HttpServer::Options options_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(BadPeersTest, WhoSaysNothingIsCutOff) {
  options_.handshake_timeout = kTimeLimit;
  options_.idle_timeout = kTimeLimit;
  Start();
  const RawPeer silent(server_->port());
  EXPECT_TRUE(silent.IsClosed());
  ExpectMetric(*metrics_, "sideband_connections_refused_total{listener=\"http\",reason=\"handshake\"} 1");
  EXPECT_TRUE(Connect(bad_)->IsClosed()) << "idle after its handshake";
  ExpectGoodIsAnswered();
}

// Single bytes do not extend a deadline.
TEST_F(BadPeersTest, WhoSaysItSlowlyIsCutOff) {
  options_.handshake_timeout = kTimeLimit;
  options_.header_timeout = kTimeLimit;
  Start();
  const auto slow_header = Connect(bad_);
  const RawPeer slow_handshake(server_->port());
  const std::string hello("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11);
  const absl::Duration start = SteadyNow();
  for (size_t i = 0; i < 8; ++i) {
    slow_header->Send(std::string(1, kGetRoot[i]));
    slow_handshake.Send(hello.substr(i, 1));
    SteadySleep(kTimeLimit / 8);
  }
  EXPECT_TRUE(slow_handshake.IsClosed());
  EXPECT_TRUE(slow_header->IsClosed());
  EXPECT_LT(SteadyNow() - start, kBound);
  ExpectGoodIsAnswered();
}

TEST_F(BadPeersTest, WhatIsNoTlsIsClosed) {
  Start();
  for (const std::string& bytes : {
           std::string("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"),           // plain HTTP
           std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),                   // plain HTTP/2
           std::string("\x16\x03\x01\xff\xff", 5) + std::string(65535, 'x'),  // a record beyond the limit
           std::string("\x16\x03\x01\x00\x04\x01\xff\xff\xff", 9),            // a hello of 16 MB
           std::string("\x15\x03\x03\x00\x02\x02\x28", 7),                    // an alert before anything
           std::string("\x80\x2e\x01\x00\x02", 5) + std::string(64, '\0'),    // SSL 2
           std::string(4096, '\0'),
       }) {
    const RawPeer peer(server_->port());
    peer.Send(bytes);
    peer.FinishSending();
    EXPECT_TRUE(peer.IsClosed());
  }
  ExpectGoodIsAnswered();
}

TEST_F(BadPeersTest, BrokenRecordsWithinAConnectionEndIt) {
  Start();
  const auto client = Connect(bad_);
  client->Send(kGetRoot);
  EXPECT_THAT(client->ReceiveResponse(), EndsWith("good\n"));
  const std::string forged("\x17\x03\x03\x00\x20" + std::string(32, 'x'));
  ASSERT_EQ(send(client->socket(), forged.data(), forged.size(), MSG_NOSIGNAL), static_cast<ssize_t>(forged.size()));
  EXPECT_TRUE(client->IsClosed());
  ExpectGoodIsAnswered();
}

TEST_F(BadPeersTest, OldTlsIsRefused) {
  Start();
  for (const int version : {TLS1_VERSION, TLS1_1_VERSION, TLS1_2_VERSION}) {
    EXPECT_FALSE(FakeHttpClient(server_->port(), ca_.ca_file(), &good_, version).is_connected()) << version;
  }
  options_.listener.tls.min_version = TlsVersion::kTls12;
  Start();
  EXPECT_FALSE(FakeHttpClient(server_->port(), ca_.ca_file(), &good_, TLS1_1_VERSION).is_connected());
}

// Any number of unauthenticated peers cannot keep authenticated clients out.
TEST_F(BadPeersTest, AThousandSilentPeersKeepNobodyOut) {
  options_.handshakes_max = 8;
  Start();
  std::vector<std::unique_ptr<RawPeer>> crowd;
  for (int i = 0; i < 500; ++i) {
    crowd.push_back(std::make_unique<RawPeer>(server_->port()));
    ASSERT_TRUE(crowd.back()->is_connected()) << i;
    if (i % 100 == 99) ExpectGoodIsAnswered();
  }
  EXPECT_TRUE(crowd.front()->IsClosed()) << "the oldest made room";
  ExpectGoodIsAnswered();
}

TEST_F(BadPeersTest, AnIdentityThatHoardsConnectionsLosesItsOwn) {
  options_.connections_per_identity_max = 4;
  Start();
  const auto good = Connect(good_);
  good->Send(kGetRoot);
  EXPECT_THAT(good->ReceiveResponse(), EndsWith("good\n"));
  std::vector<std::unique_ptr<FakeHttpClient>> hoard;
  for (int i = 0; i < 12; ++i) {
    hoard.push_back(Connect(bad_));
    hoard.back()->Send(kGetRoot);
    EXPECT_THAT(hoard.back()->ReceiveResponse(), EndsWith("good\n")) << i;
  }
  EXPECT_TRUE(hoard.front()->IsClosed());
  ExpectMetric(*metrics_, "sideband_connections_refused_total{listener=\"http\",reason=\"idle\"} 8");
  good->Send(kGetRoot);
  EXPECT_THAT(good->ReceiveResponse(), EndsWith("good\n")) << "whoever keeps to its share keeps its connection";
}

// A listener without client certificates; the token "Bearer NAME" has the identity NAME.
class TokenPeersTest : public BadPeersTest {
 protected:
  TokenPeersTest() {
    options_.listener.tls.client_auth = ClientAuth::kNone;
    options_.listener.tls.client_ca_file.clear();
    options_.connections_per_identity_max = 4;
  }

  static HttpResponse AnswerTokens(const HttpRequest& request) {
    HttpResponse response = Answer(request);
    response.identity = request.credentials.bearer_token.value_or("");
    return response;
  }
  std::unique_ptr<FakeHttpClient> ConnectFrom(const char* source) const {
    return std::make_unique<FakeHttpClient>(server_->port(), ca_.ca_file(), nullptr, 0, source);
  }
  static void Ask(FakeHttpClient& client, const std::string& token) {
    client.Send("GET / HTTP/1.1\r\nHost: x\r\n" + (token.empty() ? "" : "Authorization: Bearer " + token + "\r\n") +
                "\r\n");
    EXPECT_THAT(client.ReceiveResponse(), EndsWith("good\n")) << token;
  }
  // Opens twelve connections; each is answered once and stays open.
  std::vector<std::unique_ptr<FakeHttpClient>> Hoard(const char* source, const std::string& token) const {
    std::vector<std::unique_ptr<FakeHttpClient>> hoard;
    for (int i = 0; i < 12; ++i) {
      hoard.push_back(ConnectFrom(source));
      Ask(*hoard.back(), token);
    }
    return hoard;
  }
};

TEST_F(TokenPeersTest, AnAddressThatHoardsConnectionsLosesItsOwn) {
  Start(AnswerTokens);
  const auto good = ConnectFrom("127.0.0.2");
  Ask(*good, "");
  const auto hoard = Hoard("127.0.0.1", "");
  EXPECT_TRUE(hoard.front()->IsClosed());
  ExpectMetric(*metrics_, "sideband_connections_refused_total{listener=\"http\",reason=\"idle\"} 8");
  Ask(*good, "");
}

TEST_F(TokenPeersTest, WhoHasShownATokenIsCountedByIt) {
  Start(AnswerTokens);
  const auto good = ConnectFrom("127.0.0.1");
  Ask(*good, "good");
  const auto strangers = Hoard("127.0.0.1", "");
  const auto bad = Hoard("127.0.0.1", "bad");
  EXPECT_TRUE(bad.front()->IsClosed());
  Ask(*good, "good");
  Ask(*bad.back(), "bad");
}

TEST_F(TokenPeersTest, WhereAllIsFullWhoHasShownNothingMakesRoom) {
  options_.connections_max = 4;
  Start(AnswerTokens);
  const auto good = ConnectFrom("127.0.0.1");
  Ask(*good, "good");
  std::vector<std::unique_ptr<FakeHttpClient>> crowd;
  for (const char* source : {"127.0.0.3", "127.0.0.4", "127.0.0.5", "127.0.0.6", "127.0.0.7"}) {
    crowd.push_back(ConnectFrom(source));
    Ask(*crowd.back(), "");
  }
  EXPECT_TRUE(crowd.front()->IsClosed());
  Ask(*good, "good");
  Ask(*ConnectFrom("127.0.0.8"), "late");
}

TEST_F(BadPeersTest, WhenAllIsFullTheLongestIdleMakesRoom) {
  options_.connections_max = 2;
  Start();
  const auto first = Connect(bad_);
  first->Send(kGetRoot);
  EXPECT_THAT(first->ReceiveResponse(), EndsWith("good\n"));
  const auto second = Connect(bad_);
  second->Send(kGetRoot);
  EXPECT_THAT(second->ReceiveResponse(), EndsWith("good\n"));
  ExpectGoodIsAnswered();
  EXPECT_TRUE(first->IsClosed());
}

// An unread answer ends at its deadline, and its body is released.
TEST_F(BadPeersTest, WhoNeverReadsIsCutOff) {
  options_.write_timeout = kTimeLimit;
  const auto body = std::make_shared<const std::string>(16 << 20, 'x');
  absl::Notification asked;
  Start([&](const HttpRequest& request) {
    if (request.target != "/large") return Answer(request);
    asked.Notify();
    return HttpResponse{.body = {.shared = *body, .owner = body}};
  });
  const auto deaf = Connect(bad_);
  deaf->Send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
  WaitUntil(asked, "the request for the large body");
  ExpectGoodIsAnswered();
  WaitUntil([&] { return body.use_count() == 1; }, "the release of the unread body");
  ExpectGoodIsAnswered();
}

TEST_F(BadPeersTest, PipelinedRequestsAreAnsweredOneByOne) {
  Start();
  const auto client = Connect(bad_);
  std::string many;
  for (int i = 0; i < 200; ++i) many += kGetRoot;
  client->Send(many);
  for (int i = 0; i < 200; ++i) ASSERT_THAT(client->ReceiveResponse(), EndsWith("good\n")) << i;
  ExpectGoodIsAnswered();
}

TEST_F(BadPeersTest, OddRequestsAreAnsweredAsTheyDeserve) {
  Start([](const HttpRequest& request) {
    return request.method == "GET" ? Answer(request) : HttpResponse{.status = 405, .body = Body::Of("no\n")};
  });
  struct Case {
    std::string request;
    const char* start;
  };
  std::string many_fields = "GET / HTTP/1.1\r\nHost: x\r\n";
  for (int i = 0; i < 65; ++i) absl::StrAppend(&many_fields, "F", i, ": x\r\n");
  for (const Case& c : {
           Case{many_fields + "\r\n", "HTTP/1.1 431"},
           Case{"GET /" + std::string(9000, 'x') + " HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 431"},
           Case{"BREW / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 405"},
           Case{"CONNECT evil:80 HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 405"},
           Case{"GET http://elsewhere/ HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200"},
           Case{"GET / HTTP/1.1\r\nHost: x\r\nAccept-Encoding: ;;;q=,gzip;q=9,\xc3\xa4\r\n\r\n", "HTTP/1.1 200"},
           Case{"GET / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n", "HTTP/1.1 413"},
           Case{"GET / HTTP/9.9\r\n\r\n", "HTTP/1.1 400"},
       }) {
    const auto client = Connect(bad_);
    client->Send(c.request);
    EXPECT_THAT(client->ReceiveResponse(), StartsWith(c.start)) << c.request.substr(0, 60);
  }
  ExpectGoodIsAnswered();
}

}  // namespace
}  // namespace sideband::daemon
