// SPDX-License-Identifier: Apache-2.0
#include "daemon/metrics/listener_metrics.h"

#include <string>

#include "daemon/metrics/families.h"

namespace sideband::daemon {
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

}  // namespace sideband::daemon
