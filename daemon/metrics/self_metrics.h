// SPDX-License-Identifier: Apache-2.0
//
// The daemon's metrics about itself: those of each area (collection_metrics.h and so on), and of the process.
//   SIDEBAND_ASSIGN_OR_RETURN(auto metrics, SelfMetrics::Create({.version = "0.1.0"}));
//   metrics->CollectDuration("gpu0", took);
//   body += metrics->Serialize();
#ifndef SIDEBAND_DAEMON_METRICS_SELF_METRICS_H_
#define SIDEBAND_DAEMON_METRICS_SELF_METRICS_H_

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "daemon/metrics/audit_metrics.h"
#include "daemon/metrics/collection_metrics.h"
#include "daemon/metrics/history_metrics.h"
#include "daemon/metrics/listener_metrics.h"
#include "daemon/metrics/request_metrics.h"
#include "proto/exposition/text.h"

namespace prometheus {
class Registry;
struct MetricFamily;
}  // namespace prometheus

namespace sideband::daemon {

// The current value of one series.
struct MetricSample {
  std::string name;
  std::map<std::string, std::string> labels;
  double value = 0;
};

// Where the areas register; a base so that it is there before them.
class MetricsRegistry {
 protected:
  MetricsRegistry();
  ~MetricsRegistry();
  prometheus::Registry& registry() { return *registry_; }

 private:
  const std::unique_ptr<prometheus::Registry> registry_;
};

// Thread-safe. A class is given the area that it reports to, as a CollectionMetrics& and so on.
class SelfMetrics final : private MetricsRegistry,
                          public CollectionMetrics,
                          public RequestMetrics,
                          public ListenerMetrics,
                          public AuditMetrics,
                          public HistoryMetrics {
 public:
  struct Options {
    std::string version;
    std::string revision;  // of the sources; empty where the build was not given one
  };
  // INTERNAL if a metric cannot be registered.
  static absl::StatusOr<std::unique_ptr<SelfMetrics>> Create(Options options);
  ~SelfMetrics();

  void ConfigReloaded(bool successful);
  // Removes the series of a device that is no longer configured.
  void ForgetDevice(absl::string_view device);

  // `update` is called at the beginning of each Serialize(), by its thread, to tell what is not worth telling all the
  // time. Once, before the first.
  void SetUpdate(std::function<void(SelfMetrics&)> update) { update_ = std::move(update); }
  // The series of the counters and gauges with these names; an unknown name has none.
  std::vector<MetricSample> Samples(std::span<const absl::string_view> names);
  // In OpenMetrics without the final # EOF, since more families may follow.
  std::string Serialize(MetricsFormat format = MetricsFormat::kText);

 private:
  struct Families;  // of the process
  explicit SelfMetrics(Options options);
  std::vector<prometheus::MetricFamily> Collect();

  std::function<void(SelfMetrics&)> update_ = [](SelfMetrics&) {};
  std::unique_ptr<Families> families_;  // synchronises itself
  // Held by ForgetDevice() and during `update_`: a series must not be removed while it is updated.
  absl::Mutex devices_mu_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_METRICS_SELF_METRICS_H_
