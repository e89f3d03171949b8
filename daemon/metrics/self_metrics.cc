// SPDX-License-Identifier: Apache-2.0
#include "daemon/metrics/self_metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <unistd.h>

#include <exception>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/metrics/open_metrics.h"

namespace sideband::daemon {
namespace {

using CounterFamily = prometheus::Family<prometheus::Counter>;
using GaugeFamily = prometheus::Family<prometheus::Gauge>;
using HistogramFamily = prometheus::Family<prometheus::Histogram>;

// A mailbox read takes milliseconds on a fast bus and seconds on SMBus at 100 kHz.
const prometheus::Histogram::BucketBoundaries kCollectSeconds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                                 0.1,   0.25,   0.5,   1,    2.5,   5};
const prometheus::Histogram::BucketBoundaries kServeSeconds = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005,
                                                               0.01,   0.025,   0.05,   0.1,   0.25,   1};

CounterFamily& Counters(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

GaugeFamily& Gauges(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
}

HistogramFamily& Histograms(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
}

std::string Text(absl::string_view text) { return std::string(text); }

std::string CodeName(absl::StatusCode code) { return absl::StatusCodeToString(code); }

}  // namespace

uint64_t ResidentMemoryBytes() {
  uint64_t total_pages = 0;
  uint64_t resident_pages = 0;
  std::ifstream("/proc/self/statm") >> total_pages >> resident_pages;
  return resident_pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

struct SelfMetrics::Families {
  prometheus::Registry registry;
  HistogramFamily& collect_duration = Histograms(registry, "sideband_collect_duration_seconds",
                                                 "How long it took to latch, read, decode and publish a snapshot.");
  CounterFamily& collect_errors =
      Counters(registry, "sideband_collect_errors_total", "Snapshots that could not be taken, by status code.");
  CounterFamily& bus_transfers = Counters(registry, "sideband_bus_transfers_total", "Bus transactions by outcome.");
  CounterFamily& snapshots = Counters(registry, "sideband_snapshots_total", "Snapshots published.");
  CounterFamily& sealed_records = Counters(registry, "sideband_sealed_records_total", "Sealed records made.");
  GaugeFamily& conservation_ok =
      Gauges(registry, "sideband_conservation_ok",
             "Whether in the newest snapshot no VM has less than its contexts and the device no less than its VMs.");
  CounterFamily& ratios_over_one =
      Counters(registry, "sideband_ratios_over_one_total",
               "Ratios that were not shown because their numerator was no part of their denominator.");
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
  prometheus::Gauge& grpc_streams = Gauges(registry, "sideband_grpc_streams", "gRPC streams that are open.").Add({});
  GaugeFamily& tls_not_after = Gauges(registry, "sideband_tls_certificate_not_after_seconds",
                                      "When the server certificate in force ends, in seconds since 1970.");
  CounterFamily& tls_reloads = Counters(registry, "sideband_tls_reloads_total",
                                        "Readings of changed certificate files, by whether they are in force.");
  GaugeFamily& tls_reload_successful = Gauges(registry, "sideband_tls_last_reload_successful",
                                              "Whether the certificate files as they are now are in force.");
  CounterFamily& connections_refused =
      Counters(registry, "sideband_connections_refused_total", "Connections that were closed, by reason.");
  prometheus::Gauge& http_connections =
      Gauges(registry, "sideband_http_connections", "HTTP connections that are open.").Add({});
  prometheus::Gauge& reload_successful =
      Gauges(registry, "sideband_config_last_reload_successful", "Whether the last reload of the policy was good.")
          .Add({});
  prometheus::Counter& audit_entries =
      Counters(registry, "sideband_audit_entries_total", "Entries written to the audit log.").Add({});
  prometheus::Counter& audit_lost =
      Counters(registry, "sideband_audit_lost_total", "Entries that could not be written to the audit log.").Add({});
  GaugeFamily& history_bytes = Gauges(registry, "sideband_history_bytes", "Memory that the history holds.");
  GaugeFamily& history_max_bytes =
      Gauges(registry, "sideband_history_max_bytes", "Memory that the history may hold; 0: none is kept.");
  GaugeFamily& history_span = Gauges(registry, "sideband_history_span_seconds",
                                     "Time from the oldest snapshot in the device's history to the newest.");
  GaugeFamily& build_info = Gauges(registry, "sideband_build_info", "1, with the version of the daemon.");
  prometheus::Gauge& resident_memory =
      Gauges(registry, "process_resident_memory_bytes", "Resident memory of the daemon.").Add({});
};

SelfMetrics::SelfMetrics(Options options)
    : resident_memory_bytes_(std::move(options.resident_memory_bytes)), families_(std::make_unique<Families>()) {
  families_->build_info.Add({{"version", options.version}}).Set(1);
  families_->reload_successful.Set(1);  // the start was good
}

SelfMetrics::~SelfMetrics() = default;

absl::StatusOr<std::unique_ptr<SelfMetrics>> SelfMetrics::Create(Options options) {
  try {
    return std::unique_ptr<SelfMetrics>(new SelfMetrics(std::move(options)));
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat("cannot register the daemon's metrics: ", error.what()));
  }
}

void SelfMetrics::CollectDuration(absl::string_view device, absl::Duration duration) {
  families_->collect_duration.Add({{"device", Text(device)}}, kCollectSeconds).Observe(absl::ToDoubleSeconds(duration));
}

void SelfMetrics::CollectError(absl::string_view device, absl::StatusCode code) {
  families_->collect_errors.Add({{"device", Text(device)}, {"code", CodeName(code)}}).Increment();
}

void SelfMetrics::BusTransfer(absl::string_view device, absl::string_view outcome) {
  families_->bus_transfers.Add({{"device", Text(device)}, {"outcome", Text(outcome)}}).Increment();
}

void SelfMetrics::SnapshotPublished(absl::string_view device) {
  families_->snapshots.Add({{"device", Text(device)}}).Increment();
}

void SelfMetrics::SealedRecord(absl::string_view device) {
  families_->sealed_records.Add({{"device", Text(device)}}).Increment();
}

void SelfMetrics::Conservation(absl::string_view device, bool holds) {
  families_->conservation_ok.Add({{"device", Text(device)}}).Set(holds ? 1 : 0);
}

void SelfMetrics::RatioOverOne(absl::string_view device) {
  families_->ratios_over_one.Add({{"device", Text(device)}}).Increment();
}

void SelfMetrics::HttpRequest(absl::string_view path, int code, absl::Duration duration) {
  families_->http_requests.Add({{"path", Text(path)}, {"code", absl::StrCat(code)}}).Increment();
  families_->http_duration.Observe(absl::ToDoubleSeconds(duration));
}

void SelfMetrics::RenderDuration(absl::Duration duration) {
  families_->render_duration.Observe(absl::ToDoubleSeconds(duration));
}

void SelfMetrics::GrpcRequest(absl::string_view method, absl::StatusCode code) {
  families_->grpc_requests.Add({{"method", Text(method)}, {"code", CodeName(code)}}).Increment();
}

void SelfMetrics::GrpcStreamStarted() { families_->grpc_streams.Increment(); }

void SelfMetrics::GrpcStreamEnded() { families_->grpc_streams.Decrement(); }

void SelfMetrics::TlsCertificate(absl::string_view listener, absl::Time not_after) {
  families_->tls_not_after.Add({{"listener", Text(listener)}})
      .Set(absl::ToDoubleSeconds(not_after - absl::UnixEpoch()));
  families_->tls_reload_successful.Add({{"listener", Text(listener)}}).Set(1);
}

void SelfMetrics::TlsReload(absl::string_view listener, bool successful) {
  families_->tls_reloads.Add({{"listener", Text(listener)}, {"outcome", successful ? "ok" : "error"}}).Increment();
  families_->tls_reload_successful.Add({{"listener", Text(listener)}}).Set(successful ? 1 : 0);
}

void SelfMetrics::ConnectionRefused(absl::string_view listener, absl::string_view reason) {
  families_->connections_refused.Add({{"listener", Text(listener)}, {"reason", Text(reason)}}).Increment();
}

void SelfMetrics::HttpConnections(size_t count) { families_->http_connections.Set(static_cast<double>(count)); }

void SelfMetrics::ConfigReloaded(bool successful) { families_->reload_successful.Set(successful ? 1 : 0); }

void SelfMetrics::AuditWritten(uint64_t entries) { families_->audit_entries.Increment(static_cast<double>(entries)); }

void SelfMetrics::AuditLost(uint64_t entries) { families_->audit_lost.Increment(static_cast<double>(entries)); }

void SelfMetrics::HistoryHeld(size_t bytes, size_t max_bytes) {
  families_->history_bytes.Add({}).Set(static_cast<double>(bytes));
  families_->history_max_bytes.Add({}).Set(static_cast<double>(max_bytes));
}

void SelfMetrics::HistorySpan(absl::string_view device, absl::Duration span) {
  families_->history_span.Add({{"device", Text(device)}}).Set(absl::ToDoubleSeconds(span));
}

std::string SelfMetrics::Serialize(MetricsFormat format) {
  update_(*this);
  families_->resident_memory.Set(static_cast<double>(resident_memory_bytes_()));
  const std::vector<prometheus::MetricFamily> collected = families_->registry.Collect();
  return format == MetricsFormat::kText ? prometheus::TextSerializer().Serialize(collected)
                                        : SerializeOpenMetrics(collected);
}

}  // namespace sideband::daemon
