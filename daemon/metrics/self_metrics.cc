// SPDX-License-Identifier: Apache-2.0
#include "daemon/metrics/self_metrics.h"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/metrics/families.h"
#include "daemon/metrics/open_metrics.h"
#include "daemon/metrics/process_metrics.h"

namespace sideband::daemon {

MetricsRegistry::MetricsRegistry() : registry_(std::make_unique<prometheus::Registry>()) {}

MetricsRegistry::~MetricsRegistry() = default;

struct SelfMetrics::Families {
  explicit Families(prometheus::Registry& to) : registry(to) {}

  prometheus::Registry& registry;
  prometheus::Gauge& reload_successful = Gauges(registry, "sideband_config_last_reload_successful",
                                                "Whether the last reload of the configuration and the policy was good.")
                                             .Add({});
  GaugeFamily& build_info =
      Gauges(registry, "sideband_build_info", "1, with the version of the daemon and the revision of its sources.");
  ProcessMetrics process{registry};
};

SelfMetrics::SelfMetrics(Options options)
    : CollectionMetrics(registry()),
      RequestMetrics(registry()),
      ListenerMetrics(registry()),
      AuditMetrics(registry()),
      HistoryMetrics(registry()),
      families_(std::make_unique<Families>(registry())) {
  prometheus::Labels build = {{"version", options.version}};
  // To Prometheus an empty label is an absent one.
  if (!options.revision.empty()) build.emplace("revision", options.revision);
  families_->build_info.Add(build).Set(1);
  families_->reload_successful.Set(1);  // the daemon has started with a valid configuration
}

SelfMetrics::~SelfMetrics() = default;

absl::StatusOr<std::unique_ptr<SelfMetrics>> SelfMetrics::Create(Options options) {
  try {
    return std::unique_ptr<SelfMetrics>(new SelfMetrics(std::move(options)));
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat("cannot register the daemon's metrics: ", error.what()));
  }
}

void SelfMetrics::ConfigReloaded(bool successful) { families_->reload_successful.Set(successful ? 1 : 0); }

void SelfMetrics::ForgetDevice(absl::string_view device) {
  absl::MutexLock lock(&devices_mu_);
  CollectionMetrics::ForgetDevice(device);
  HistoryMetrics::ForgetDevice(device);
}

std::vector<prometheus::MetricFamily> SelfMetrics::Collect() {
  {
    absl::MutexLock lock(&devices_mu_);
    // Under the lock, so that no series of a device is removed while it is updated.
    update_(*this);
  }
  families_->process.Update();
  return registry().Collect();
}

std::vector<MetricSample> SelfMetrics::Samples(std::span<const absl::string_view> names) {
  std::vector<MetricSample> samples;
  for (const prometheus::MetricFamily& family : Collect()) {
    if (std::ranges::find(names, family.name) == names.end()) continue;
    for (const prometheus::ClientMetric& metric : family.metric) {
      MetricSample& sample = samples.emplace_back();
      sample.name = family.name;
      for (const auto& label : metric.label) sample.labels.emplace(label.name, label.value);
      sample.value = family.type == prometheus::MetricType::Counter ? metric.counter.value : metric.gauge.value;
    }
  }
  return samples;
}

std::string SelfMetrics::Serialize(MetricsFormat format) {
  const std::vector<prometheus::MetricFamily> collected = Collect();
  return format == MetricsFormat::kText ? prometheus::TextSerializer().Serialize(collected)
                                        : SerializeOpenMetrics(collected);
}

}  // namespace sideband::daemon
