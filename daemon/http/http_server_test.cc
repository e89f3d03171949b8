// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "daemon/base/socket_folder.h"
#include "daemon/config/fake_certificates.h"
#include "daemon/http/fake_http_client.h"
#include "daemon/http/site.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/view/fake_world.h"
#include "proto/base/steady_time.h"
#include "proto/base/wait_until.h"

namespace sideband::daemon {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr char kGetWho[] = "GET /who HTTP/1.1\r\nHost: x\r\n\r\n";

// Answers with the method, the target and the first URI of the client certificate.
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
    auto server = HttpServer::Start(options_, std::move(handler), *metrics_);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  std::string Exchange(const std::string& request) {
    FakeHttpClient client(server_->port(), ca_.ca_file(), &peer_);
    client.Send(request);
    return client.ReceiveResponse();
  }

  const FakeCa ca_{"ca", testing::TempDir()};
  const SocketFolder folder_;
  const CertificateFiles peer_ = ca_.Issue("peer", "URI:spiffe://example.org/peer");
  const std::unique_ptr<SelfMetrics> metrics_ = *SelfMetrics::Create({.version = "1"});
  FakeClock clock_{absl::Now()};
  HttpServer::Options options_;
  // Stop() and a read of a raw socket wait for the server.
  const TimeLimit limit_{"a test of the HTTP server to end", absl::Minutes(4)};
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, AnswersTheVerifiedPeer) {
  Start();
  const std::string response = Exchange(kGetWho);
  EXPECT_THAT(response, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(response, HasSubstr("Cache-Control: no-store\r\n"));
  EXPECT_THAT(response, EndsWith("\r\n\r\nGET /who spiffe://example.org/peer\n"));
}

TEST_F(HttpServerTest, WithoutACertificateThereIsNoAnswer) {
  Start();
  FakeHttpClient client(server_->port(), ca_.ca_file(), nullptr);
  client.Send(kGetWho);
  EXPECT_EQ(client.ReceiveResponse(), "");
}

TEST_F(HttpServerTest, AnotherCasCertificateIsRefused) {
  Start();
  const FakeCa other("other-ca", testing::TempDir());
  const CertificateFiles stranger = other.Issue("stranger", "URI:spiffe://example.org/peer");
  FakeHttpClient client(server_->port(), ca_.ca_file(), &stranger);
  client.Send(kGetWho);
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
    client.Send(kGetWho);
    EXPECT_THAT(client.ReceiveResponse(), EndsWith("peer\n"));
  }
  client.Send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(client.ReceiveResponse(), HasSubstr("Connection: close\r\n"));
  EXPECT_TRUE(client.IsClosed());
}

TEST_F(HttpServerTest, AConnectionDoesNotOutliveItsCertificate) {
  options_.limits.clock = &clock_;
  Start();
  FakeHttpClient client(server_->port(), ca_.ca_file(), &peer_);
  client.Send(kGetWho);
  EXPECT_THAT(client.ReceiveResponse(), StartsWith("HTTP/1.1 200 OK\r\n"));
  clock_.Advance(absl::Hours(24 * 40));
  server_->CheckCertificates();
  EXPECT_TRUE(client.IsClosed());
}

TEST_F(HttpServerTest, AnOldConnectionEndsAfterTheAnswer) {
  options_.limits = {.age_max = absl::Hours(1), .clock = &clock_};
  Start();
  FakeHttpClient client(server_->port(), ca_.ca_file(), &peer_);
  client.Send(kGetWho);
  EXPECT_THAT(client.ReceiveResponse(), Not(HasSubstr("Connection: close")));
  clock_.Advance(absl::Hours(1));
  client.Send(kGetWho);
  EXPECT_THAT(client.ReceiveResponse(), HasSubstr("Connection: close"));
  EXPECT_TRUE(client.IsClosed());
}

TEST_F(HttpServerTest, HeadHasNoBody) {
  Start();
  FakeHttpClient client(server_->port(), ca_.ca_file(), &peer_);
  client.Send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::string response = client.ReceiveResponse(/*is_head=*/true);
  EXPECT_THAT(response, HasSubstr("Content-Length: 33\r\n"));
  EXPECT_THAT(response, EndsWith("\r\n\r\n"));
  client.Send(kGetWho);
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
           Case{"GET / HTTP/1.1\r\nHost: x\r\nX: " + std::string(8192, 'x') + "\r\n\r\n", "HTTP/1.1 431"},
           Case{"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello", "HTTP/1.1 413"},
           Case{"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n", "HTTP/1.1 413"},
           Case{"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
                "HTTP/1.1 413"},
           Case{"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello", "HTTP/1.1 405"},
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
  EXPECT_THAT(Exchange(kGetWho), EndsWith("\r\n\r\nh" + *body + "t"));
}

TEST_F(HttpServerTest, ABusyPortIsSaidPlainly) {
  Start();
  options_.listener.listen.port = server_->port();
  const absl::Status status = HttpServer::Start(options_, Echo, *metrics_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(), "http: cannot listen on " + options_.listener.listen.ToString() +
                                  ": Address already in use: another program has the port (ss -ltnp names it)");
}

TEST_F(HttpServerTest, ABadFileIsNamed) {
  options_.listener.tls.key_file = peer_.key_file;
  const absl::Status status = HttpServer::Start(options_, Echo, *metrics_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("peer.key: not the key of the certificate in"));
}

TEST_F(HttpServerTest, StopClosesIdleConnections) {
  Start();
  FakeHttpClient client(server_->port(), ca_.ca_file(), &peer_);
  client.Send(kGetWho);
  client.ReceiveResponse();
  std::jthread stopper([this] { server_->Stop(); });
  EXPECT_TRUE(client.IsClosed());
}

TEST_F(HttpServerTest, StopLetsAnAnswerFinish) {
  absl::Notification asked;
  absl::Notification go_on;
  Start([&](const HttpRequest& request) {
    asked.Notify();
    WaitUntil(go_on, "the server to be stopped");
    return Echo(request);
  });
  FakeHttpClient client(server_->port(), ca_.ca_file(), &peer_);
  client.Send(kGetWho);
  WaitUntil(asked, "the request");
  std::jthread stopper([this] { server_->Stop(); });
  go_on.Notify();
  EXPECT_THAT(client.ReceiveResponse(), EndsWith("peer\n"));
  EXPECT_TRUE(client.IsClosed());
}

// The work queue makes the answer: the echo, or 429 where the queue refuses.
HttpResponse EchoLater(const HttpRequest& request) {
  HttpResponse response{.identity = "peer",
                        .work = std::make_shared<HttpWork>(HttpWork{.make = [request](const absl::Status& may) {
                          return may.ok() ? Echo(request) : HttpResponse{.status = 429, .body = Body::Of("later\n")};
                        }})};
  return response;
}

TEST_F(HttpServerTest, WorkIsAnsweredInTheOrderOfItsRequests) {
  WorkQueue work({}, clock_);
  options_.work = &work;
  Start(EchoLater);
  FakeHttpClient client(server_->port(), ca_.ca_file(), &peer_);
  client.Send("GET /1 HTTP/1.1\r\nHost: x\r\n\r\nHEAD /2 HTTP/1.1\r\nHost: x\r\n\r\nGET /3 HTTP/1.0\r\n\r\n");
  EXPECT_THAT(client.ReceiveResponse(), HasSubstr("\r\n\r\nGET /1 "));
  EXPECT_THAT(client.ReceiveResponse(/*is_head=*/true), EndsWith("\r\n\r\n"));
  const std::string last = client.ReceiveResponse();
  EXPECT_THAT(last, StartsWith("HTTP/1.0 200 OK"));
  EXPECT_THAT(last, HasSubstr("\r\n\r\nGET /3 "));
  EXPECT_TRUE(client.IsClosed());
  work.Stop();
}

TEST_F(HttpServerTest, WhatTheQueueRefusesIsAnswered) {
  // Each work takes more than there is.
  WorkQueue work({.threads = 1,
                  .processor = {.burst = 1, .per_second = 0.1},
                  .processor_time =
                      [] {
                        thread_local absl::Duration used;
                        return used += absl::Seconds(2);
                      }},
                 clock_);
  options_.work = &work;
  Start(EchoLater);
  EXPECT_THAT(Exchange(kGetWho), StartsWith("HTTP/1.1 200 OK"));
  // The work is charged a moment after its answer: behind it, on the only thread.
  absl::Notification charged;
  work.Add(WorkQueue::Lane::kScrapes, {"other"}, [&](const absl::Status&) { charged.Notify(); });
  WaitUntil(charged, "the work behind the first");
  const std::string refused = Exchange(kGetWho);
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 429 "));
  EXPECT_THAT(refused, EndsWith("later\n"));
  work.Stop();
}

// A client that has gone, and a server that stops, while the work waits.
TEST_F(HttpServerTest, WorkMayOutliveItsClient) {
  WorkQueue work({.threads = 1}, clock_);
  options_.work = &work;
  options_.stop_grace = absl::ZeroDuration();
  Start(EchoLater);
  absl::Notification blocked, go_on;
  work.Add(WorkQueue::Lane::kScrapes, {"other"}, [&](const absl::Status&) {
    blocked.Notify();
    WaitUntil(go_on, "the client to be closed");
  });
  WaitUntil(blocked, "the work that occupies the thread");
  {
    FakeHttpClient gone(server_->port(), ca_.ca_file(), &peer_);
    gone.Send(kGetWho);
  }
  FakeHttpClient client(server_->port(), ca_.ca_file(), &peer_);
  client.Send(kGetWho);
  std::jthread stopper([this] { server_->Stop(); });
  EXPECT_TRUE(client.IsClosed());
  go_on.Notify();
  work.Stop();
}

TEST_F(HttpServerTest, RequestsBeyondTheThrottleAreReadLater) {
  HolderThrottle throttle({.streams = {.burst = 2, .per_second = 20}}, clock_);
  options_.throttle = &throttle;
  Start();
  FakeHttpClient client(server_->port(), ca_.ca_file(), &peer_);
  for (int i = 0; i < 2; ++i) {
    client.Send(kGetWho);
    EXPECT_THAT(client.ReceiveResponse(), StartsWith("HTTP/1.1 200 OK"));
  }
  const absl::Duration start = SteadyNow();
  for (int i = 0; i < 2; ++i) {
    client.Send(kGetWho);
    EXPECT_THAT(client.ReceiveResponse(), StartsWith("HTTP/1.1 200 OK"));
  }
  EXPECT_GE(SteadyNow() - start, absl::Milliseconds(50));
  server_->Stop();
}

// Every connection is served, with the certificate in force when it is made.
TEST_F(HttpServerTest, ARenewedCertificateHoldsForNewConnections) {
  Start();
  FakeHttpClient before(server_->port(), ca_.ca_file(), &peer_);
  const std::string old_serial = before.server_serial();
  const auto expect_serial = [&](const std::string& serial) {
    FakeHttpClient client(server_->port(), ca_.ca_file(), &peer_);
    EXPECT_EQ(client.server_serial(), serial);
    client.Send(kGetWho);
    EXPECT_THAT(client.ReceiveResponse(), EndsWith("peer\n"));
    server_->CheckCertificates();
  };
  const CertificateFiles renewed = ca_.Issue("renewed", "DNS:localhost,IP:127.0.0.1");
  std::filesystem::rename(renewed.cert_file, options_.listener.tls.cert_file);
  expect_serial(old_serial);
  expect_serial(old_serial);
  std::filesystem::rename(renewed.key_file, options_.listener.tls.key_file);
  server_->ReloadCertificates();
  FakeHttpClient after(server_->port(), ca_.ca_file(), &peer_);
  EXPECT_NE(after.server_serial(), old_serial);
  before.Send(kGetWho);
  EXPECT_THAT(before.ReceiveResponse(), EndsWith("peer\n")) << "the old connection goes on";
}

TEST_F(HttpServerTest, ANewClientAuthorityHoldsForNewConnections) {
  Start();
  const FakeCa other("other-ca", testing::TempDir());
  const CertificateFiles newcomer = other.Issue("newcomer", "URI:spiffe://example.org/newcomer");
  const std::string server_ca = testing::TempDir() + "/server-ca.pem";
  std::filesystem::copy_file(ca_.ca_file(), server_ca, std::filesystem::copy_options::overwrite_existing);
  std::filesystem::copy_file(other.ca_file(), options_.listener.tls.client_ca_file,
                             std::filesystem::copy_options::overwrite_existing);
  server_->CheckCertificates();
  const auto ask = [&](const CertificateFiles& files) {
    FakeHttpClient client(server_->port(), server_ca, &files);
    client.Send(kGetWho);
    return client.ReceiveResponse();
  };
  EXPECT_THAT(ask(newcomer), EndsWith("newcomer\n"));
  EXPECT_EQ(ask(peer_), "") << "no longer anybody's client";
}

TEST_F(HttpServerTest, ClientCertificatesAsConfigured) {
  options_.listener.tls.client_auth = ClientAuth::kVerifyIfGiven;
  Start();
  const auto ask = [&](const CertificateFiles* files) {
    FakeHttpClient client(server_->port(), ca_.ca_file(), files);
    client.Send(kGetWho);
    return client.ReceiveResponse();
  };
  EXPECT_THAT(ask(&peer_), EndsWith("/peer\n"));
  EXPECT_THAT(ask(nullptr), EndsWith("nobody\n"));
  const CertificateFiles stranger = FakeCa("other-ca", testing::TempDir()).Issue("x", "URI:spiffe://example.org/peer");
  EXPECT_EQ(ask(&stranger), "") << "what is given is verified";
  options_.listener.tls.client_auth = ClientAuth::kNone;
  Start();
  EXPECT_THAT(ask(&peer_), EndsWith("nobody\n"));
}

TEST_F(HttpServerTest, LocalOperatorsNeedNoCertificate) {
  options_.listener.on_network = false;
  options_.listener.unix_socket = folder_.path() + "/s";
  Start([](const HttpRequest& request) {
    return HttpResponse{.body = Body::Of(request.credentials.local_operator == geteuid() ? "yes" : "no")};
  });
  EXPECT_EQ(server_->port(), 0);
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{.sun_family = AF_UNIX};
  std::strcpy(address.sun_path, options_.listener.unix_socket.c_str());
  ASSERT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(write(fd, kGetWho, sizeof(kGetWho) - 1), static_cast<ssize_t>(sizeof(kGetWho) - 1));
    std::string answer;
    char byte = 0;
    while (!answer.ends_with("\r\n\r\nyes") && read(fd, &byte, 1) == 1) answer += byte;
    EXPECT_THAT(answer, EndsWith("\r\n\r\nyes"));
  }
  std::jthread stopper([this] { server_->Stop(); });
  char byte = 0;
  EXPECT_EQ(read(fd, &byte, 1), 0) << "an idle connection is closed";
  close(fd);
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
          client.Send(kGetWho);
          good += client.ReceiveResponse().ends_with("peer\n");
        }
      });
    }
  }
  EXPECT_EQ(good, 160);
}

// A thousand policy changes during concurrent scrapes: no answer is empty, partial or of another tenant.
constexpr int kReloads = 1000;
constexpr int kScrapers = 4;

class ReloadTest : public testing::Test {
 protected:
  ReloadTest() {
    world_.Publish(0, 2);
    HttpServer::Options options;
    options.listener.listen = {"127.0.0.1", 0};
    options.listener.tls = ca_.Server();
    server_ = *HttpServer::Start(
        options, [this](const HttpRequest& request) { return site_.Handle(request); }, *metrics_);
  }

  // Scrapes until is_over_.
  void Scrape(const std::string& own, const std::string& foreign, const CertificateFiles& certificate) {
    FakeHttpClient client(server_->port(), ca_.ca_file(), &certificate);
    for (; !is_over_ && !HasFailure(); ++scrapes_) {
      client.Send("GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: application/openmetrics-text\r\n\r\n");
      const std::string response = client.ReceiveResponse();
      EXPECT_THAT(response, StartsWith("HTTP/1.1 200 OK\r\n"));
      EXPECT_THAT(response, EndsWith("\n# EOF\n"));
      EXPECT_THAT(response, HasSubstr(absl::StrCat("sideband_context_cycles_total{device=\"gpu0\",slice=", own)));
      EXPECT_THAT(response, Not(HasSubstr(foreign)));
    }
  }

  const FakeCa ca_{"ca", testing::TempDir()};
  FakeWorld world_;
  std::unique_ptr<SelfMetrics> metrics_ = *SelfMetrics::Create({.version = "1"});
  Site site_{world_.reader, *metrics_, world_.clock, {}};
  std::unique_ptr<HttpServer> server_;
  std::atomic<bool> is_over_ = false;
  std::atomic<uint64_t> scrapes_ = 0;
};

TEST_F(ReloadTest, NoAnswerIsEmptyOrPartial) {
  const CertificateFiles a = ca_.Issue("a", "URI:spiffe://example.org/tenant-a");
  const CertificateFiles b = ca_.Issue("b", "URI:spiffe://example.org/tenant-b");
  std::vector<std::jthread> scrapers;
  for (int i = 0; i < kScrapers; ++i) {
    scrapers.emplace_back(
        [&, i] { i % 2 == 0 ? Scrape("\"0\",vm=\"vm0\"", "vm1", a) : Scrape("\"1\",vm=\"vm1\"", "vm0", b); });
  }
  for (uint64_t reload = 0; reload < kReloads; ++reload) {
    // At least one scrape per five reloads, so that scrapes are under way when the policy changes.
    WaitUntil([&] { return scrapes_ >= reload / 5 || HasFailure(); }, absl::StrCat(reload / 5, " scrapes"));
    world_.policy.Replace(FakePolicy());
    if (reload % 10 == 0) world_.Publish(0, 3 + reload);
  }
  is_over_ = true;
  scrapers.clear();
  EXPECT_GE(scrapes_, kReloads / 5 - 1);
}

}  // namespace
}  // namespace sideband::daemon
