// SPDX-License-Identifier: Apache-2.0
#include "daemon/metrics/serving_metrics.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "daemon/metrics/families.h"

namespace sideband::daemon {
namespace {

const prometheus::Histogram::BucketBoundaries kServeSeconds = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005,
                                                               0.01,   0.025,   0.05,   0.1,   0.25,   1};

}  // namespace

struct AuditMetrics::Families {
  explicit Families(prometheus::Registry& to) : registry(to) {}

  prometheus::Registry& registry;
  prometheus::Counter& audit_entries =
      Counters(registry, "sideband_audit_entries_total", "Entries written to the audit log.").Add({});
  prometheus::Counter& audit_lost =
      Counters(registry, "sideband_audit_lost_total", "Entries that could not be written to the audit log.").Add({});
};

AuditMetrics::AuditMetrics(prometheus::Registry& registry) : families_(std::make_unique<Families>(registry)) {}

AuditMetrics::~AuditMetrics() = default;

void AuditMetrics::AuditWritten(uint64_t entries) { families_->audit_entries.Increment(static_cast<double>(entries)); }

void AuditMetrics::AuditLost(uint64_t entries) { families_->audit_lost.Increment(static_cast<double>(entries)); }

struct ListenerMetrics::Families {
  explicit Families(prometheus::Registry& to) : registry(to) {}

  prometheus::Registry& registry;
  GaugeFamily& tls_not_after = Gauges(registry, "sideband_tls_certificate_not_after_timestamp_seconds",
                                      "When the server certificate in force ends, in seconds since 1970.");
  CounterFamily& tls_reloads = Counters(registry, "sideband_tls_reloads_total",
                                        "Readings of changed certificate files, by whether they are in force.");
  GaugeFamily& tls_reload_successful = Gauges(registry, "sideband_tls_last_reload_successful",
                                              "Whether the certificate files as they are now are in force.");
  CounterFamily& connections_refused =
      Counters(registry, "sideband_connections_refused_total", "Connections that were closed, by reason.");
  CounterFamily& descriptors_exhausted = Counters(registry, "sideband_descriptors_exhausted_total",
                                                  "Connections that had to wait because no file descriptor was left.");
  prometheus::Gauge& http_connections =
      Gauges(registry, "sideband_http_connections", "HTTP connections that are open.").Add({});
  prometheus::Gauge& grpc_connections =
      Gauges(registry, "sideband_grpc_connections", "gRPC connections that are open.").Add({});
};

ListenerMetrics::ListenerMetrics(prometheus::Registry& registry) : families_(std::make_unique<Families>(registry)) {}

ListenerMetrics::~ListenerMetrics() = default;

void ListenerMetrics::TlsCertificate(absl::string_view listener, absl::Time not_after) {
  families_->tls_not_after.Add({{"listener", std::string(listener)}})
      .Set(absl::ToDoubleSeconds(not_after - absl::UnixEpoch()));
  families_->tls_reload_successful.Add({{"listener", std::string(listener)}}).Set(1);
}

void ListenerMetrics::TlsReload(absl::string_view listener, bool successful) {
  families_->tls_reloads.Add({{"listener", std::string(listener)}, {"outcome", successful ? "ok" : "error"}})
      .Increment();
  families_->tls_reload_successful.Add({{"listener", std::string(listener)}}).Set(successful ? 1 : 0);
}

void ListenerMetrics::ConnectionRefused(absl::string_view listener, absl::string_view reason) {
  families_->connections_refused.Add({{"listener", std::string(listener)}, {"reason", std::string(reason)}})
      .Increment();
}

void ListenerMetrics::DescriptorsExhausted(absl::string_view listener) {
  families_->descriptors_exhausted.Add({{"listener", std::string(listener)}}).Increment();
}

void ListenerMetrics::HttpConnections(size_t count) { families_->http_connections.Set(static_cast<double>(count)); }

void ListenerMetrics::GrpcConnections(size_t count) { families_->grpc_connections.Set(static_cast<double>(count)); }

struct RequestMetrics::Families {
  explicit Families(prometheus::Registry& to) : registry(to) {}

  prometheus::Registry& registry;
  CounterFamily& http_requests =
      Counters(registry, "sideband_http_requests_total", "HTTP requests by path and status code.");
  prometheus::Histogram& http_duration =
      Histograms(registry, "sideband_http_request_duration_seconds", "How long the answer to an HTTP request took.")
          .Add({}, kServeSeconds);
  prometheus::Histogram& render_duration =
      Histograms(registry, "sideband_render_duration_seconds", "How long the text of a scrape took.")
          .Add({}, kServeSeconds);
  CounterFamily& grpc_requests =
      Counters(registry, "sideband_grpc_requests_total", "gRPC calls that ended, by method and status code.");
  prometheus::Counter& snapshot_serialisations =
      Counters(registry, "sideband_grpc_snapshot_serialisations_total",
               "Snapshots serialised for gRPC, each for all its readers with the same view and filter.")
          .Add({});
  prometheus::Counter& snapshots = Counters(registry, "sideband_grpc_snapshots_total",
                                            "Snapshots in answers of GetSnapshot and updates of Subscribe.")
                                       .Add({});
  prometheus::Gauge& grpc_streams = Gauges(registry, "sideband_grpc_streams", "gRPC streams that are open.").Add({});
};

RequestMetrics::RequestMetrics(prometheus::Registry& registry) : families_(std::make_unique<Families>(registry)) {}

RequestMetrics::~RequestMetrics() = default;

void RequestMetrics::HttpRequest(absl::string_view path, int code, absl::Duration duration) {
  families_->http_requests.Add({{"path", std::string(path)}, {"code", absl::StrCat(code)}}).Increment();
  families_->http_duration.Observe(absl::ToDoubleSeconds(duration));
}

void RequestMetrics::RenderDuration(absl::Duration duration) {
  families_->render_duration.Observe(absl::ToDoubleSeconds(duration));
}

void RequestMetrics::GrpcRequest(absl::string_view method, absl::StatusCode code) {
  families_->grpc_requests.Add({{"method", std::string(method)}, {"code", CodeName(code)}}).Increment();
}

void RequestMetrics::SnapshotSerialised() { families_->snapshot_serialisations.Increment(); }

void RequestMetrics::SnapshotSent() { families_->snapshots.Increment(); }

void RequestMetrics::GrpcStreamStarted() { families_->grpc_streams.Increment(); }

void RequestMetrics::GrpcStreamEnded() { families_->grpc_streams.Decrement(); }

}  // namespace sideband::daemon
