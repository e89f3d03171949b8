// SPDX-License-Identifier: Apache-2.0
#include "daemon/metrics/self_metrics.h"

#include <dirent.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <exception>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/metrics/families.h"
#include "proto/base/steady_time.h"
#include "proto/exposition/prometheus_text.h"

namespace sideband::daemon {
namespace {

std::optional<MetricType> TypeOf(const prometheus::MetricFamily& family) {
  switch (family.type) {
    case prometheus::MetricType::Counter:
      return MetricType::kCounter;
    case prometheus::MetricType::Gauge:
      return MetricType::kGauge;
    case prometheus::MetricType::Histogram:
      return MetricType::kHistogram;
    default:
      return std::nullopt;
  }
}

// OpenMetrics demands ("Considerations: Canonical Numbers") 0.0001, not 1e-04, and 1.0, not 1. In both formats,
// since a label that differed would make two series of one.
std::string BoundText(double bound) {
  if (std::isinf(bound)) return NumberText(bound);
  char digits[32];
  std::string text(digits, std::to_chars(digits, digits + sizeof(digits), bound, std::chars_format::general).ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string LabelText(const prometheus::ClientMetric& metric, const std::string& bucket = "") {
  std::string labels;
  for (const auto& label : metric.label) AppendLabel(labels, label.name, label.value);
  if (!bucket.empty()) AppendLabel(labels, "le", bucket);
  return labels.empty() ? "" : absl::StrCat("{", labels, "}");
}

void AppendSample(std::string& out, const std::string& name, const prometheus::ClientMetric& metric, double value,
                  const std::string& bucket = "") {
  absl::StrAppend(&out, name, LabelText(metric, bucket), " ", ValueText(value), "\n");
}

void AppendHistogram(std::string& out, const std::string& name, const prometheus::ClientMetric& metric) {
  for (const auto& bucket : metric.histogram.bucket) {
    AppendSample(out, name + "_bucket", metric, static_cast<double>(bucket.cumulative_count),
                 BoundText(bucket.upper_bound));
  }
  AppendSample(out, name + "_count", metric, static_cast<double>(metric.histogram.sample_count));
  AppendSample(out, name + "_sum", metric, metric.histogram.sample_sum);
}

void AppendMetric(std::string& out, const std::string& name, MetricType type, const prometheus::ClientMetric& metric) {
  switch (type) {
    case MetricType::kCounter:
      return AppendSample(out, name, metric, metric.counter.value);
    case MetricType::kGauge:
      return AppendSample(out, name, metric, metric.gauge.value);
    case MetricType::kHistogram:
      return AppendHistogram(out, name, metric);
  }
}

struct ProcStat {
  uint64_t start_ticks = 0;  // after the boot of the host
  uint64_t virtual_bytes = 0;
  uint64_t resident_pages = 0;
};

// Fields 22 to 24 of /proc/self/stat. They are counted after the name of the program, which may contain blanks.
std::optional<ProcStat> ReadStat() {
  std::ifstream file("/proc/self/stat");
  const std::string line{std::istreambuf_iterator<char>(file), {}};
  const size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 22; ++field) fields >> skipped;
  ProcStat stat;
  if (!(fields >> stat.start_ticks >> stat.virtual_bytes >> stat.resident_pages)) return std::nullopt;
  return stat;
}

double SecondsOf(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// The host's boot, since 1970. The btime of /proc/stat is not there for a service with ProcSubset=pid.
double BootSeconds() { return SecondsOf(CLOCK_REALTIME) - SecondsOf(CLOCK_BOOTTIME); }

std::optional<int> CountOpenFiles() {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/fd"), closedir);
  if (folder == nullptr) return std::nullopt;
  // Less ".", ".." and the folder itself.
  int entries = -3;
  while (readdir(folder.get()) != nullptr) ++entries;
  return entries;
}

}  // namespace

std::string MetricsText(MetricsFormat format, const std::vector<prometheus::MetricFamily>& families,
                        const CreatedOf& created) {
  std::string out;
  for (const prometheus::MetricFamily& family : families) {
    const auto type = TypeOf(family);
    if (!type) continue;
    out += FamilyHeader(format, family.name, *type, family.help);
    for (const prometheus::ClientMetric& metric : family.metric) {
      AppendMetric(out, family.name, *type, metric);
      if (*type != MetricType::kCounter || format != MetricsFormat::kOpenMetrics) continue;
      absl::StrAppend(&out, CreatedName(family.name), LabelText(metric), " ", TimeText(created(family, metric)), "\n");
    }
  }
  return out;
}

ProcessMetrics::ProcessMetrics(prometheus::Registry& registry, absl::Duration pause)
    : pause_(pause),
      cpu_seconds_(&Counters(registry, "process_cpu_seconds_total", "Processor time of the daemon.").Add({})),
      max_fds_(Gauges(registry, "process_max_fds", "Limit of open files of the daemon.").Add({})),
      open_fds_(Gauges(registry, "process_open_fds", "Open files of the daemon.").Add({})),
      resident_memory_(Gauges(registry, "process_resident_memory_bytes", "Resident memory of the daemon.").Add({})),
      start_time_(Gauges(registry, "process_start_time_seconds", "Start of the daemon, since 1970.").Add({})),
      virtual_memory_(Gauges(registry, "process_virtual_memory_bytes", "Virtual memory of the daemon.").Add({})) {
  // Once: a step of the host's clock must not move it.
  if (const auto stat = ReadStat()) {
    start_time_.Set(BootSeconds() + static_cast<double>(stat->start_ticks) / static_cast<double>(sysconf(_SC_CLK_TCK)));
  }
}

void ProcessMetrics::Update() {
  absl::MutexLock lock(&mu_);
  const absl::Duration now = SteadyNow();
  if (updated_ && now - *updated_ < pause_) return;
  updated_ = now;
  if (const auto stat = ReadStat()) {
    resident_memory_.Set(static_cast<double>(stat->resident_pages) * static_cast<double>(sysconf(_SC_PAGESIZE)));
    virtual_memory_.Set(static_cast<double>(stat->virtual_bytes));
  }
  if (const auto open = CountOpenFiles()) open_fds_.Set(*open);
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) max_fds_.Set(static_cast<double>(limit.rlim_cur));
  cpu_seconds_->Increment(SecondsOf(CLOCK_PROCESS_CPUTIME_ID) - cpu_seconds_->Value());
}

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
      BmcMetrics(registry()),
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

void SelfMetrics::ForgetDevice(absl::string_view device, absl::Time at) {
  absl::MutexLock lock(&devices_mu_);
  CollectionMetrics::ForgetDevice(device, at);
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
  const Created created = CreatedSince(families_->process.start_time());
  return MetricsText(format, Collect(), std::bind_front(&Created::Of, &created));
}

}  // namespace sideband::daemon
