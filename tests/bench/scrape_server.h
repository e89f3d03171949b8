// SPDX-License-Identifier: Apache-2.0
//
// The daemon's HTTPS server in front of a MetricsWorld, and clients for it.
//   ScrapeServer server(ca, {.tenants = 50, .contexts = 39, .events = 50});
//   ScrapeClient client(server, ca, 7);
//   const Scrape scrape = client.Run();
#ifndef SIDEBAND_TESTS_BENCH_SCRAPE_SERVER_H_
#define SIDEBAND_TESTS_BENCH_SCRAPE_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "daemon/base/clock.h"
#include "daemon/config/fake_certificates.h"
#include "daemon/http/fake_http_client.h"
#include "daemon/http/http_server.h"
#include "daemon/http/site.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/store/publication_thread.h"
#include "tests/bench/metrics_world.h"

namespace sideband::bench {

// Thread-safe as the world is. Failures to start end the program.
class ScrapeServer {
 public:
  // `is_refreshed`: what several scrapers ask for is made after each publication, as in the daemon; else when they ask.
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
  double seconds;     // on the wall, from the request to the last byte
  size_t text_bytes;  // before compression, as gzip's trailer has it; 0 where the answer is not whole
};

// A tenant's connection, which stays open. Not thread-safe.
class ScrapeClient {
 public:
  ScrapeClient(const ScrapeServer& server, const daemon::FakeCa& ca, size_t tenant);

  // One scrape, compressed as Prometheus asks for it, in the format that `accept` names.
  Scrape Run(const char* accept);

 private:
  const daemon::CertificateFiles certificate_;
  daemon::FakeHttpClient client_;
};

// Of an HTTP answer with a gzip body: the length of the text; 0 where it is no such answer.
size_t GzippedBytes(const std::string& response);

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_BENCH_SCRAPE_SERVER_H_
