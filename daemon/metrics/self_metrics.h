// SPDX-License-Identifier: Apache-2.0
//
// The daemon's metrics about itself: those of each area (area_metrics.h), and of the process.
//   SIDEBAND_ASSIGN_OR_RETURN(auto metrics, SelfMetrics::Create({.version = "0.1.0"}));
//   metrics->CollectDuration("gpu0", took);
//   body += metrics->Serialize();
#ifndef SIDEBAND_DAEMON_METRICS_SELF_METRICS_H_
#define SIDEBAND_DAEMON_METRICS_SELF_METRICS_H_

#include <prometheus/metric_family.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/metrics/area_metrics.h"
#include "daemon/metrics/families.h"
#include "proto/exposition/prometheus_text.h"

namespace prometheus {
class Registry;
struct MetricFamily;
}  // namespace prometheus

namespace sideband::daemon {

// prometheus-cpp's metrics as text. Its own serializer has no OpenMetrics, and writes bounds of histograms in another
// way.

// When a counter was zero.
using CreatedOf =
    std::function<absl::Time(const prometheus::MetricFamily& family, const prometheus::ClientMetric& counter)>;

// The text of counters (names must end in _total), gauges and histograms. Families of other types are omitted, and so
// is the final # EOF of OpenMetrics, which also has a _created of each counter.
std::string MetricsText(MetricsFormat format, const std::vector<prometheus::MetricFamily>& families,
                        const CreatedOf& created);

// Metrics of the process, with the names that Prometheus' client libraries have for them, from /proc (proc(5)).
//
// Thread-safe. A value that cannot be read keeps its last one.
class ProcessMetrics {
 public:
  // `registry` must outlive the object. `pause`: see Update(); to count a thousand open files takes milliseconds.
  explicit ProcessMetrics(prometheus::Registry& registry, absl::Duration pause = absl::Milliseconds(500));

  // Does nothing within `pause` of the last update.
  void Update();
  // The process's start, at most a hundredth of a second too early.
  absl::Time start_time() const { return absl::UnixEpoch() + absl::Seconds(start_time_.Value()); }

 private:
  const absl::Duration pause_;
  absl::Mutex mu_;
  std::optional<absl::Duration> updated_ ABSL_GUARDED_BY(mu_);
  prometheus::Counter* const cpu_seconds_ ABSL_PT_GUARDED_BY(mu_);  // set by increments
  prometheus::Gauge& max_fds_;
  prometheus::Gauge& open_fds_;
  prometheus::Gauge& resident_memory_;
  prometheus::Gauge& start_time_;
  prometheus::Gauge& virtual_memory_;
};

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
                          public HistoryMetrics,
                          public BmcMetrics {
 public:
  struct Options {
    std::string version;
    std::string revision;  // of the sources; empty where the build was not given one
  };
  // INTERNAL if a metric cannot be registered.
  static absl::StatusOr<std::unique_ptr<SelfMetrics>> Create(Options options);
  ~SelfMetrics();

  void ConfigReloaded(bool successful);
  // Removes the series of a device that is no longer configured. Should it come again, its counters begin then, or
  // later.
  void ForgetDevice(absl::string_view device, absl::Time at);

  // `update` is called at the beginning of each Serialize(), by its thread, to tell what is not worth telling all the
  // time. Once, before the first.
  void SetUpdate(std::function<void(SelfMetrics&)> update) { update_ = std::move(update); }
  // The series of the counters and gauges with these names; an unknown name has none.
  std::vector<MetricSample> Samples(std::span<const absl::string_view> names);
  // In OpenMetrics with the created times of counters, and without the final # EOF, since more families may follow.
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
