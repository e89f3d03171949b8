// SPDX-License-Identifier: Apache-2.0
//
// A thousand policy changes during concurrent scrapes: no answer is empty, partial or of another tenant.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "absl/strings/str_cat.h"
#include "daemon/config/fake_certificates.h"
#include "daemon/http/fake_http_client.h"
#include "daemon/http/http_server.h"
#include "daemon/http/site.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/view/fake_world.h"
#include "proto/base/wait_until.h"

namespace sideband::daemon {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

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
