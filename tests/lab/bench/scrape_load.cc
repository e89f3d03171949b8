// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <netinet/in.h>
#include <prometheus/counter.h>
#include <prometheus/exposer.h>
#include <prometheus/registry.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "daemon/base/clock.h"
#include "daemon/config/fake_certificates.h"
#include "daemon/http/fake_http_client.h"
#include "daemon/http/http_server.h"
#include "daemon/http/site.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/snapshot/store.h"
#include "proto/base/status_macros.h"
#include "tests/lab/bench/benchmarks.h"
#include "tests/lab/bench/metrics_world.h"

namespace sideband::bench {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// The daemon's HTTPS server in front of a MetricsWorld. As thread-safe as MetricsWorld. A failure to start ends the
// program.
class ScrapeServer {
 public:
  // `is_refreshed`: answers that several scrapers request are rendered after each publication, as in the daemon; else
  // on request.
  ScrapeServer(const daemon::FakeCa& ca, const MetricsSize& size, bool is_refreshed);

  MetricsWorld& world() { return world_; }
  uint16_t port() const { return server_->port(); }

 private:
  const daemon::SystemClock clock_;
  MetricsWorld world_;
  const std::unique_ptr<daemon::SelfMetrics> metrics_;
  daemon::Site site_;
  daemon::PublicationThread expositions_;
  std::unique_ptr<daemon::HttpServer> server_;
};

struct Scrape {
  double seconds;     // elapsed time from the request to the last byte
  size_t text_bytes;  // before compression, from gzip's trailer; 0 if the answer is incomplete
};

// A tenant's persistent connection. Not thread-safe.
class ScrapeClient {
 public:
  ScrapeClient(const ScrapeServer& server, const daemon::FakeCa& ca, size_t tenant);

  // One scrape, compressed as for Prometheus, in the format that `accept` names.
  Scrape Run(const char* accept);

 private:
  const daemon::CertificateFiles certificate_;
  daemon::FakeHttpClient client_;
};

daemon::HttpServer::Options OptionsFor(const daemon::FakeCa& ca) {
  daemon::HttpServer::Options options;
  options.listener.listen = {"127.0.0.1", 0};
  options.listener.tls = ca.Server();
  return options;
}

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

// The length of the text of an HTTP answer with a gzip body; 0 for any other answer.
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

constexpr char kText[] = "text/plain;version=0.0.4";
constexpr char kOpenMetrics[] = "application/openmetrics-text;version=1.0.0";
constexpr MetricsSize kTenThousand = {.tenants = 1, .contexts = 199, .events = 50};
constexpr MetricsSize kFiftyTenants = {.tenants = 50, .contexts = 39, .events = 50};
constexpr MetricsSize kOneLargeTenant = {.tenants = 1, .contexts = 1999, .events = 50};
constexpr size_t kScrapers = 50;
constexpr int kScrapesEach = 10;
constexpr milliseconds kCollection{1000};

double Quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, static_cast<size_t>(share * static_cast<double>(values.size())))];
}

// A connection without TLS to the library's server, for one scrape.
class PlainClient {
 public:
  explicit PlainClient(uint16_t port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    is_connected_ = connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  }
  ~PlainClient() { close(socket_); }

  // 0 bytes if the answer is incomplete.
  Scrape Run() {
    const auto start = steady_clock::now();
    const std::string request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n";
    if (!is_connected_ || send(socket_, request.data(), request.size(), MSG_NOSIGNAL) < 0) return {0, 0};
    const std::string response = Receive();
    const std::chrono::duration<double> took = steady_clock::now() - start;
    return {took.count(), GzippedBytes(response)};
  }

 private:
  // Receives until the header's content length is complete.
  std::string Receive() {
    std::string response;
    size_t wanted = std::string::npos;
    char chunk[65536];
    while (response.size() < wanted) {
      const ssize_t got = recv(socket_, chunk, sizeof(chunk), 0);
      if (got <= 0) return "";
      response.append(chunk, static_cast<size_t>(got));
      const size_t header = response.find("\r\n\r\n");
      const size_t length = response.find("Content-Length: ");
      if (header == std::string::npos || length == std::string::npos) continue;
      size_t bytes = 0;
      const size_t number = length + sizeof("Content-Length: ") - 1;
      if (!absl::SimpleAtoi(response.substr(number, response.find("\r\n", number) - number), &bytes)) return "";
      wanted = header + 4 + bytes;
    }
    return response;
  }

  const int socket_;
  bool is_connected_ = false;
};

// The same series in the library's registry, which its server serialises at each request.
std::shared_ptr<prometheus::Registry> LibraryRegistry(const MetricsSize& size) {
  auto registry = std::make_shared<prometheus::Registry>();
  for (size_t e = 0; e < size.events; ++e) {
    auto& family = prometheus::BuildCounter()
                       .Name(absl::StrCat("sideband_unit", e / 8, "_event", e, "_cycles_total"))
                       .Help(absl::StrCat("Cycles of event ", e))
                       .Register(*registry);
    for (size_t c = 0; c <= size.contexts; ++c) {
      family.Add({{"device", "gpu0"}, {"slice", "0"}, {"vm", "vm0"}, {"context", absl::StrCat("context", c)}})
          .Increment(static_cast<double>(1'001'234'567 + 977 * c * e));
    }
  }
  return registry;
}

// The median of some scrapes, each of new counts; an error if an answer is incomplete.
absl::StatusOr<double> MedianOfLibrary() {
  prometheus::Exposer exposer("127.0.0.1:0", 1);
  const auto registry = LibraryRegistry(kTenThousand);
  exposer.RegisterCollectable(registry);
  std::vector<double> seconds;
  for (int round = 0; round < 15; ++round) {
    // The library closes its connections after each scrape; connecting is not measured.
    PlainClient client(static_cast<uint16_t>(exposer.GetListeningPorts().front()));
    const Scrape scrape = client.Run();
    if (scrape.text_bytes < 500'000) return absl::InternalError("prometheus-cpp's Exposer sent no whole answer");
    seconds.push_back(scrape.seconds);
  }
  return Quantile(seconds, 0.5);
}

absl::StatusOr<Rows> MeasureBesideExposer(const daemon::FakeCa& ca) {
  ScrapeServer server(ca, kTenThousand, /*is_refreshed=*/false);
  ScrapeClient client(server, ca, 0);
  std::vector<double> fresh, cached;
  for (int round = 0; round < 15; ++round) {
    server.world().Publish();
    for (std::vector<double>* seconds : {&fresh, &cached}) {
      const Scrape scrape = client.Run(kText);
      if (scrape.text_bytes < 500'000) return absl::InternalError("the server sent no whole answer");
      seconds->push_back(scrape.seconds);
    }
  }
  SIDEBAND_ASSIGN_OR_RETURN(const double library, MedianOfLibrary());
  const double ours = Quantile(fresh, 0.5), again = Quantile(cached, 0.5);
  return Rows{
      {"gzip'd scrape of 10,000 new counts, Exposer's time of ours", library / ours, "x",
       absl::StrFormat("ours %.2f ms with TLS, Exposer's %.2f ms without", ours * 1e3, library * 1e3)},
      {"the same, of counts that another has scraped", library / again, "x", absl::StrFormat("%.2f ms", again * 1e3)}};
}

struct Load {
  std::vector<double> seconds;
  size_t broken = 0;
};

// The scrapes of one scraper, once a second at its own offset.
Load RunScraper(ScrapeClient& client, steady_clock::time_point first, const char* accept, size_t text_bytes_min) {
  Load load;
  for (int turn = 0; turn < kScrapesEach; ++turn) {
    std::this_thread::sleep_until(first + turn * kCollection);
    const Scrape scrape = client.Run(accept);
    load.seconds.push_back(scrape.seconds);
    load.broken += scrape.text_bytes < text_bytes_min;
  }
  return load;
}

// 50 scrapers of `size` while a new snapshot is published every second.
Row MeasureLoad(const daemon::FakeCa& ca, const MetricsSize& size, const char* accept, const std::string& name) {
  ScrapeServer server(ca, size, /*is_refreshed=*/true);
  std::vector<std::unique_ptr<ScrapeClient>> clients;
  for (size_t i = 0; i < kScrapers; ++i) {
    clients.push_back(std::make_unique<ScrapeClient>(server, ca, i % size.tenants));
  }
  const auto start = steady_clock::now() + milliseconds(500);
  std::atomic<bool> is_over = false;
  std::thread collector([&] {
    for (auto at = start; !is_over; std::this_thread::sleep_until(at += kCollection)) server.world().Publish();
  });
  std::vector<Load> loads(kScrapers);
  std::vector<std::thread> scrapers;
  for (size_t i = 0; i < kScrapers; ++i) {
    scrapers.emplace_back([&, i] {
      const auto first = start + i * kCollection / kScrapers;
      loads[i] = RunScraper(*clients[i], first, accept, size.series_per_tenant() * 60);
    });
  }
  for (std::thread& scraper : scrapers) scraper.join();
  is_over = true;
  collector.join();
  Load all;
  for (const Load& load : loads) {
    all.seconds.insert(all.seconds.end(), load.seconds.begin(), load.seconds.end());
    all.broken += load.broken;
  }
  return {name, Quantile(all.seconds, 0.99) * 1e3, "ms",
          absl::StrFormat("median %.1f, longest %.1f, %d broken of %d", Quantile(all.seconds, 0.5) * 1e3,
                          Quantile(all.seconds, 1) * 1e3, all.broken, all.seconds.size())};
}

}  // namespace

absl::StatusOr<Rows> MeasureScrapeLoad(const std::string& folder) {
  const daemon::FakeCa ca("bench", folder);
  SIDEBAND_ASSIGN_OR_RETURN(Rows rows, MeasureBesideExposer(ca));
  rows.push_back(
      MeasureLoad(ca, kFiftyTenants, kOpenMetrics, "50 scrapers of 50 tenants' 2,000 series each, p99 of a scrape"));
  rows.push_back(
      MeasureLoad(ca, kOneLargeTenant, kOpenMetrics, "50 scrapers of one tenant's 100,000 series, p99 of a scrape"));
  rows.push_back(MeasureLoad(ca, kOneLargeTenant, kText, "the same in Prometheus' own format, p99 of a scrape"));
  return rows;
}

}  // namespace sideband::bench
