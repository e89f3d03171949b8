// SPDX-License-Identifier: Apache-2.0
#include "daemon/metrics/area_metrics.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "daemon/metrics/families.h"

namespace sideband::daemon {
namespace {

// A mailbox read takes milliseconds on a fast bus and seconds on SMBus at 100 kHz.
const prometheus::Histogram::BucketBoundaries kCollectSeconds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                                 0.1,   0.25,   0.5,   1,    2.5,   5};

// At 100 kHz one counter takes 14 ms, 64 take 61 ms.
const prometheus::Histogram::BucketBoundaries kPeekSeconds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                                              0.05,   0.1,   0.25,   0.5,   1,    2.5};

struct PipelineRow {
  uint64_t PipelineActivity::*activity;
  const char* name;
  const char* help;
};
constexpr PipelineRow kPipelineRows[] = {
    {&PipelineActivity::stall_cycles, "sideband_pipeline_stall_cycles_total",
     "Cycles in which collection units waited for a full buffer."},
    {&PipelineActivity::trigger_overruns, "sideband_pipeline_trigger_overruns_total",
     "Triggers that waited until a bank was drained; no count is lost."},
    {&PipelineActivity::commit_wait_cycles, "sideband_pipeline_commit_wait_cycles_total",
     "Cycles in which commits waited for the memory."},
    {&PipelineActivity::mmu_faults, "sideband_pipeline_mmu_faults_total",
     "Commits that were dropped because their address was bound to another VM or context."},
    {&PipelineActivity::switches, "sideband_pipeline_switches_total", "Context switches on all slices."},
    {&PipelineActivity::switch_cycles, "sideband_pipeline_switch_cycles_total", "Cycles of all context switches."},
    {&PipelineActivity::rotation_inconsistencies, "sideband_pipeline_rotation_inconsistencies_total",
     "Relations between events that were found not to hold, and are not used any more."},
};

std::vector<CounterFamily*> PipelineFamilies(prometheus::Registry& registry) {
  std::vector<CounterFamily*> families;
  for (const PipelineRow& row : kPipelineRows) families.push_back(&Counters(registry, row.name, row.help));
  return families;
}

const prometheus::Histogram::BucketBoundaries kServeSeconds = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005,
                                                               0.01,   0.025,   0.05,   0.1,   0.25,   1};

}  // namespace

struct CollectionMetrics::Families {
  explicit Families(prometheus::Registry& to) : registry(to) {}

  prometheus::Registry& registry;
  HistogramFamily& collect_duration = Histograms(registry, "sideband_collect_duration_seconds",
                                                 "How long it took to latch, read, decode and publish a snapshot.");
  CounterFamily& collect_errors =
      Counters(registry, "sideband_collect_errors_total", "Snapshots that could not be taken, by status code.");
  CounterFamily& bus_transfers = Counters(registry, "sideband_bus_transfers_total", "Bus transactions by outcome.");
  CounterFamily& interference =
      Counters(registry, "sideband_mailbox_interference_total",
               "Answers in the mailbox that were another controller's; the command was repeated.");
  CounterFamily& snapshots = Counters(registry, "sideband_snapshots_total", "Snapshots published.");
  CounterFamily& sealed_records = Counters(registry, "sideband_sealed_records_total", "Sealed records made.");
  GaugeFamily& sealing_budget_used =
      Gauges(registry, "sideband_sealing_budget_used_ratio",
             "Share of the records that the VM's newest session key may seal, from 0 to 1; then nothing is sealed.");
  CounterFamily& confidentiality_refused =
      Counters(registry, "sideband_collect_confidentiality_refused_total",
               "How often a device reported a confidential VM as not confidential; it stays confidential.");
  GaugeFamily& conservation_ok =
      Gauges(registry, "sideband_conservation_ok",
             "Whether in the newest snapshot no VM has less than its contexts and the device no less than its VMs.");
  GaugeFamily& counting_revision =
      Gauges(registry, "sideband_counting_revision", "Number of the configuration of what the device counts.");
  GaugeFamily& counting_in_sync =
      Gauges(registry, "sideband_counting_in_sync", "Whether the settings of what the device counts are in force.");
  GaugeFamily& counting_settings_stored =
      Gauges(registry, "sideband_counting_settings_stored",
             "Whether callers' settings of what the device counts outlast a restart of the daemon.");
  CounterFamily& counting_changes =
      Counters(registry, "sideband_counting_changes_total", "Changes of what the device counts, by status code.");
  const std::vector<CounterFamily*> pipeline = PipelineFamilies(registry);  // parallel to kPipelineRows
  CounterFamily& peeks = Counters(registry, "sideband_peeks_total", "Peeks by status code.");
  CounterFamily& marks =
      Counters(registry, "sideband_marks_total", "Marks that devices have taken or refused, by status code.");
  HistogramFamily& peek_duration =
      Histograms(registry, "sideband_peek_duration_seconds", "How long peeks have used the device's bus.");
  CounterFamily& peek_retries = Counters(
      registry, "sideband_peek_retries_total",
      "How often a peek was asked again, since another controller or a bus error came in between, or may have: a "
      "refused peek is asked again, too.");
  CounterFamily& ratios_over_one =
      Counters(registry, "sideband_ratios_over_one_total",
               "Ratios that were not shown because they exceeded 1: misconfigured, or above the capacity.");

  absl::Mutex mu;
  Created created ABSL_GUARDED_BY(mu);
};

CollectionMetrics::CollectionMetrics(prometheus::Registry& registry)
    : families_(std::make_unique<Families>(registry)) {}

CollectionMetrics::~CollectionMetrics() = default;

void CollectionMetrics::CollectDuration(absl::string_view device, absl::Duration duration) {
  families_->collect_duration.Add({{"device", std::string(device)}}, kCollectSeconds)
      .Observe(absl::ToDoubleSeconds(duration));
}

void CollectionMetrics::CollectError(absl::string_view device, absl::StatusCode code) {
  families_->collect_errors.Add({{"device", std::string(device)}, {"code", CodeName(code)}}).Increment();
}

void CollectionMetrics::BusTransfer(absl::string_view device, absl::string_view outcome) {
  families_->bus_transfers.Add({{"device", std::string(device)}, {"outcome", std::string(outcome)}}).Increment();
  families_->interference.Add({{"device", std::string(device)}}).Increment(outcome == "interference" ? 1 : 0);
}

void CollectionMetrics::SnapshotPublished(absl::string_view device) {
  families_->snapshots.Add({{"device", std::string(device)}}).Increment();
  families_->peek_retries.Add({{"device", std::string(device)}});
}

void CollectionMetrics::SealedRecord(absl::string_view device) {
  families_->sealed_records.Add({{"device", std::string(device)}}).Increment();
}

void CollectionMetrics::SealingBudgetUsed(absl::string_view device, absl::string_view vm, double share) {
  families_->sealing_budget_used.Add({{"device", std::string(device)}, {"uuid", std::string(vm)}}).Set(share);
}

void CollectionMetrics::ConfidentialityRefused(absl::string_view device, size_t vms) {
  families_->confidentiality_refused.Add({{"device", std::string(device)}}).Increment(static_cast<double>(vms));
}

void CollectionMetrics::Conservation(absl::string_view device, bool holds) {
  families_->conservation_ok.Add({{"device", std::string(device)}}).Set(holds ? 1 : 0);
}

void CollectionMetrics::Counting(absl::string_view device, const CountingStatus& status) {
  const prometheus::Labels labels = {{"device", std::string(device)}};
  families_->counting_revision.Add(labels).Set(status.revision);
  families_->counting_in_sync.Add(labels).Set(status.is_in_sync ? 1 : 0);
  families_->counting_settings_stored.Add(labels).Set(status.is_stored ? 1 : 0);
}

void CollectionMetrics::ForgetCounting(absl::string_view device) {
  for (GaugeFamily* family :
       {&families_->counting_revision, &families_->counting_in_sync, &families_->counting_settings_stored}) {
    RemoveDevice(*family, std::string(device));
  }
}
void CollectionMetrics::CountingChange(absl::string_view device, absl::StatusCode code) {
  families_->counting_changes.Add({{"device", std::string(device)}, {"outcome", CodeName(code)}}).Increment();
}

void CollectionMetrics::Pipeline(absl::string_view device, const PipelineActivity& activity, absl::Time booted) {
  {
    absl::MutexLock lock(&families_->mu);
    // Later boots go on counting.
    families_->created.booted_.try_emplace(device, booted);
  }
  for (size_t i = 0; i < std::size(kPipelineRows); ++i) {
    const uint64_t increment = activity.*kPipelineRows[i].activity;
    families_->pipeline[i]->Add({{"device", std::string(device)}}).Increment(static_cast<double>(increment));
  }
}

void CollectionMetrics::Peek(absl::string_view device, absl::StatusCode code) {
  families_->peeks.Add({{"device", std::string(device)}, {"code", CodeName(code)}}).Increment();
}

void CollectionMetrics::Mark(absl::string_view device, absl::StatusCode code) {
  families_->marks.Add({{"device", std::string(device)}, {"code", CodeName(code)}}).Increment();
}

void CollectionMetrics::PeekDuration(absl::string_view device, absl::Duration duration) {
  families_->peek_duration.Add({{"device", std::string(device)}}, kPeekSeconds)
      .Observe(absl::ToDoubleSeconds(duration));
}

void CollectionMetrics::PeekRetry(absl::string_view device) {
  families_->peek_retries.Add({{"device", std::string(device)}}).Increment();
}

void CollectionMetrics::RatioOverOne(absl::string_view device) {
  families_->ratios_over_one.Add({{"device", std::string(device)}}).Increment();
}

absl::Time CollectionMetrics::Created::Of(const prometheus::MetricFamily& family,
                                          const prometheus::ClientMetric& counter) const {
  const auto device = std::ranges::find(counter.label, "device", &prometheus::ClientMetric::Label::name);
  if (device == counter.label.end()) return start_;
  const bool is_pipeline = std::ranges::find(kPipelineRows, family.name, &PipelineRow::name) != std::end(kPipelineRows);
  const auto& created = is_pipeline ? booted_ : forgotten_;
  const auto found = created.find(device->value);
  return found == created.end() ? start_ : found->second;
}

CollectionMetrics::Created CollectionMetrics::CreatedSince(absl::Time start) const {
  absl::MutexLock lock(&families_->mu);
  Created created = families_->created;
  created.start_ = start;
  return created;
}

void CollectionMetrics::ForgetDevice(absl::string_view device, absl::Time at) {
  const std::string name(device);
  RemoveDevice(families_->collect_duration, name, [&](const prometheus::Labels& labels) -> prometheus::Histogram& {
    return families_->collect_duration.Add(labels, kCollectSeconds);
  });
  RemoveDevice(families_->peek_duration, name, [&](const prometheus::Labels& labels) -> prometheus::Histogram& {
    return families_->peek_duration.Add(labels, kPeekSeconds);
  });
  for (CounterFamily* family :
       {&families_->collect_errors, &families_->bus_transfers, &families_->interference, &families_->snapshots,
        &families_->sealed_records, &families_->ratios_over_one, &families_->confidentiality_refused, &families_->peeks,
        &families_->peek_retries, &families_->marks, &families_->counting_changes}) {
    RemoveDevice(*family, name);
  }
  for (CounterFamily* family : families_->pipeline) RemoveDevice(*family, name);
  RemoveDevice(families_->conservation_ok, name);
  RemoveDevice(families_->sealing_budget_used, name);
  ForgetCounting(device);
  absl::MutexLock lock(&families_->mu);
  families_->created.booted_.erase(name);
  families_->created.forgotten_[name] = at;
}

struct HistoryMetrics::Families {
  explicit Families(prometheus::Registry& to) : registry(to) {}

  prometheus::Registry& registry;
  GaugeFamily& history_bytes = Gauges(registry, "sideband_history_bytes", "Memory that the history holds.");
  GaugeFamily& history_max_bytes =
      Gauges(registry, "sideband_history_max_bytes", "Memory that the history may hold; 0: none is kept.");
  GaugeFamily& history_span = Gauges(registry, "sideband_history_span_seconds",
                                     "Time from the oldest snapshot in the device's history to the newest.");
  GaugeFamily& sensor_bytes =
      Gauges(registry, "sideband_sensor_history_bytes", "Memory that the history holds of boards' sensors.");
  GaugeFamily& sensor_span =
      Gauges(registry, "sideband_sensor_history_span_seconds",
             "Time from the oldest reading in the history of the device's sensors to the newest.");
};

HistoryMetrics::HistoryMetrics(prometheus::Registry& registry) : families_(std::make_unique<Families>(registry)) {}

HistoryMetrics::~HistoryMetrics() = default;

void HistoryMetrics::HistoryHeld(size_t bytes, size_t max_bytes) {
  families_->history_bytes.Add({}).Set(static_cast<double>(bytes));
  families_->history_max_bytes.Add({}).Set(static_cast<double>(max_bytes));
}

void HistoryMetrics::SensorHistoryHeld(size_t bytes) {
  families_->sensor_bytes.Add({}).Set(static_cast<double>(bytes));
}

void HistoryMetrics::SensorHistorySpan(absl::string_view device, absl::Duration span) {
  families_->sensor_span.Add({{"device", std::string(device)}}).Set(absl::ToDoubleSeconds(span));
}

void HistoryMetrics::HistorySpan(absl::string_view device, absl::Duration span) {
  families_->history_span.Add({{"device", std::string(device)}}).Set(absl::ToDoubleSeconds(span));
}

void HistoryMetrics::ForgetDevice(absl::string_view device) {
  RemoveDevice(families_->history_span, std::string(device));
  RemoveDevice(families_->sensor_span, std::string(device));
}

struct BmcMetrics::Families {
  explicit Families(prometheus::Registry& to) : registry(to) {}

  prometheus::Registry& registry;
  GaugeFamily& up = Gauges(registry, "sideband_bmc_up", "Whether the BMC answers with values.");
  GaugeFamily& state =
      Gauges(registry, "sideband_bmc_state", "1 for whether the BMC gives values, or why not, else 0.");
  CounterFamily& requests = Counters(registry, "sideband_bmc_requests_total", "Requests to the BMC, by HTTP status.");
  CounterFamily& logins = Counters(registry, "sideband_bmc_logins_total", "Sessions that were made at the BMC.");
  CounterFamily& left_out =
      Counters(registry, "sideband_bmc_values_left_out_total", "Values of the BMC that were not published, by reason.");
  GaugeFamily& period = Gauges(registry, "sideband_bmc_period_seconds", "How often values of a kind are asked for.");
};

BmcMetrics::BmcMetrics(prometheus::Registry& registry) : families_(std::make_unique<Families>(registry)) {}

BmcMetrics::~BmcMetrics() = default;

void BmcMetrics::BmcUp(absl::string_view bmc, bool is_up) {
  families_->up.Add({{"bmc", std::string(bmc)}}).Set(is_up ? 1 : 0);
}

void BmcMetrics::BmcStateIs(absl::string_view bmc, absl::string_view state, bool is_so) {
  families_->state.Add({{"bmc", std::string(bmc)}, {"state", std::string(state)}}).Set(is_so ? 1 : 0);
}

void BmcMetrics::BmcRequest(absl::string_view bmc, absl::string_view code) {
  families_->requests.Add({{"bmc", std::string(bmc)}, {"code", std::string(code)}}).Increment();
}

void BmcMetrics::BmcLogin(absl::string_view bmc) { families_->logins.Add({{"bmc", std::string(bmc)}}).Increment(); }

void BmcMetrics::BmcValuesLeftOut(absl::string_view bmc, absl::string_view reason, size_t values) {
  families_->left_out.Add({{"bmc", std::string(bmc)}, {"reason", std::string(reason)}})
      .Increment(static_cast<double>(values));
}

void BmcMetrics::BmcPeriod(absl::string_view bmc, absl::string_view kind, absl::Duration period) {
  families_->period.Add({{"bmc", std::string(bmc)}, {"kind", std::string(kind)}}).Set(absl::ToDoubleSeconds(period));
}

void BmcMetrics::ForgetBmc(absl::string_view bmc) {
  const std::string name(bmc);
  for (GaugeFamily* family : {&families_->up, &families_->state, &families_->period})
    RemoveSeries(*family, "bmc", name);
  for (CounterFamily* family : {&families_->requests, &families_->logins, &families_->left_out}) {
    RemoveSeries(*family, "bmc", name);
  }
}

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
