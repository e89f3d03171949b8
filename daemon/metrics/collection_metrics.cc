// SPDX-License-Identifier: Apache-2.0
#include "daemon/metrics/collection_metrics.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
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

}  // namespace sideband::daemon
