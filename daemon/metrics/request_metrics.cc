// SPDX-License-Identifier: Apache-2.0
#include "daemon/metrics/request_metrics.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "daemon/metrics/families.h"

namespace sideband::daemon {
namespace {

const prometheus::Histogram::BucketBoundaries kServeSeconds = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005,
                                                               0.01,   0.025,   0.05,   0.1,   0.25,   1};

}  // namespace

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
