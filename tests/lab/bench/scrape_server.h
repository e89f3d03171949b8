// SPDX-License-Identifier: Apache-2.0
//
// The daemon's HTTPS server in front of a MetricsWorld, and clients for it.
//   ScrapeServer server(ca, {.tenants = 50, .contexts = 39, .events = 50});
//   ScrapeClient client(server, ca, 7);
//   const Scrape scrape = client.Run();
#ifndef SIDEBAND_TESTS_LAB_BENCH_SCRAPE_SERVER_H_
#define SIDEBAND_TESTS_LAB_BENCH_SCRAPE_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "daemon/base/clock.h"
#include "daemon/config/fake_certificates.h"
#include "daemon/http/fake_http_client.h"
#include "daemon/http/http_server.h"
#include "daemon/http/site.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/snapshot/store.h"
#include "tests/lab/bench/metrics_world.h"

namespace sideband::bench {

// As thread-safe as MetricsWorld. A failure to start ends the program.
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

// The length of the text of an HTTP answer with a gzip body; 0 for any other answer.
size_t GzippedBytes(const std::string& response);

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_LAB_BENCH_SCRAPE_SERVER_H_
