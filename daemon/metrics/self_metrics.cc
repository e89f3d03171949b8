// SPDX-License-Identifier: Apache-2.0
#include "daemon/metrics/self_metrics.h"

#include <prometheus/text_serializer.h>
#include <unistd.h>

#include <exception>
#include <fstream>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/metrics/families.h"
#include "daemon/metrics/open_metrics.h"

namespace sideband::daemon {

uint64_t ResidentMemoryBytes() {
  uint64_t total_pages = 0;
  uint64_t resident_pages = 0;
  std::ifstream("/proc/self/statm") >> total_pages >> resident_pages;
  return resident_pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

MetricsRegistry::MetricsRegistry() : registry_(std::make_unique<prometheus::Registry>()) {}

MetricsRegistry::~MetricsRegistry() = default;

struct SelfMetrics::Families {
  explicit Families(prometheus::Registry& to) : registry(to) {}

  prometheus::Registry& registry;
  prometheus::Gauge& reload_successful = Gauges(registry, "sideband_config_last_reload_successful",
                                                "Whether the last reload of the configuration and the policy was good.")
                                             .Add({});
  GaugeFamily& build_info = Gauges(registry, "sideband_build_info", "1, with the version of the daemon.");
  prometheus::Gauge& resident_memory =
      Gauges(registry, "process_resident_memory_bytes", "Resident memory of the daemon.").Add({});
};

SelfMetrics::SelfMetrics(Options options)
    : CollectionMetrics(registry()),
      RequestMetrics(registry()),
      ListenerMetrics(registry()),
      AuditMetrics(registry()),
      HistoryMetrics(registry()),
      resident_memory_bytes_(std::move(options.resident_memory_bytes)),
      families_(std::make_unique<Families>(registry())) {
  families_->build_info.Add({{"version", options.version}}).Set(1);
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

std::string SelfMetrics::Serialize(MetricsFormat format) {
  {
    absl::MutexLock lock(&devices_mu_);
    // Under the lock, so that no series of a device is removed while it is updated.
    update_(*this);
  }
  families_->resident_memory.Set(static_cast<double>(resident_memory_bytes_()));
  const std::vector<prometheus::MetricFamily> collected = registry().Collect();
  return format == MetricsFormat::kText ? prometheus::TextSerializer().Serialize(collected)
                                        : SerializeOpenMetrics(collected);
}

}  // namespace sideband::daemon
