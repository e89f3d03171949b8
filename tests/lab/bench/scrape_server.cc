// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/bench/scrape_server.h"

#include <chrono>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace sideband::bench {
namespace {

using std::chrono::steady_clock;

daemon::HttpServer::Options OptionsFor(const daemon::FakeCa& ca) {
  daemon::HttpServer::Options options;
  options.listener.listen = {"127.0.0.1", 0};
  options.listener.tls = ca.Server();
  return options;
}

}  // namespace

ScrapeServer::ScrapeServer(const daemon::FakeCa& ca, const MetricsSize& size, bool is_refreshed)
    : world_(size),
      metrics_(*daemon::SelfMetrics::Create({.version = "bench"})),
      site_(world_.reader, *metrics_, clock_, {}),
      expositions_(world_.store, [this] { site_.RefreshExpositions(); }),
      server_(*daemon::HttpServer::Start(
          OptionsFor(ca), [this](const daemon::HttpRequest& request) { return site_.Handle(request); }, *metrics_)) {
  world_.Publish();
  if (is_refreshed) expositions_.Start();
}

size_t GzippedBytes(const std::string& response) {
  if (!absl::StartsWith(response, "HTTP/1.1 200 ") || response.size() < 200) return 0;
  size_t bytes = 0;
  for (size_t i = 0; i < 4; ++i) {
    bytes |= static_cast<size_t>(static_cast<unsigned char>(response[response.size() - 4 + i])) << (8 * i);
  }
  return bytes;
}

ScrapeClient::ScrapeClient(const ScrapeServer& server, const daemon::FakeCa& ca, size_t tenant)
    : certificate_(ca.Issue(absl::StrCat("t", tenant), absl::StrCat("URI:spiffe://example.org/t", tenant))),
      client_(server.port(), ca.ca_file(), &certificate_) {}

Scrape ScrapeClient::Run(const char* accept) {
  const auto start = steady_clock::now();
  client_.Send(absl::StrCat("GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: ", accept,
                            "\r\nAccept-Encoding: gzip\r\n\r\n"));
  const std::string response = client_.ReceiveResponse();
  const std::chrono::duration<double> took = steady_clock::now() - start;
  return {took.count(), GzippedBytes(response)};
}

}  // namespace sideband::bench
