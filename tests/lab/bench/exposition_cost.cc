// SPDX-License-Identifier: Apache-2.0
#include <prometheus/counter.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <cstring>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "daemon/exposition/exposition.h"
#include "daemon/exposition/exposition_cache.h"
#include "daemon/exposition/text_buffer.h"
#include "proto/exposition/prometheus_text.h"
#include "tests/lab/bench/benchmarks.h"
#include "tests/lab/bench/measurement.h"
#include "tests/lab/bench/metrics_world.h"

namespace sideband::bench {
namespace {

using daemon::Exposition;
using daemon::TextBuffer;

constexpr MetricsSize kMany = {.tenants = 1, .contexts = 1405, .events = 64};  // 90,000 series

// The same families, labels and numbers in prometheus-cpp.
class PrometheusCpp {
 public:
  explicit PrometheusCpp(const MetricsSize& size) {
    for (size_t e = 0; e < size.events; ++e) {
      auto& family = prometheus::BuildCounter()
                         .Name(absl::StrCat("sideband_unit", e / 8, "_event", e, "_cycles_total"))
                         .Help(absl::StrCat("Cycles of event ", e))
                         .Register(registry_);
      family.Add({{"device", "gpu0"}, {"slice", "0"}, {"vm", "vm0"}}).Increment(1'001'234'567);
      for (size_t c = 0; c < size.contexts; ++c) {
        family.Add({{"device", "gpu0"}, {"slice", "0"}, {"vm", "vm0"}, {"context", absl::StrCat("context", c)}})
            .Increment(1'001'234'567);
      }
    }
  }
  std::string Serialize() const { return prometheus::TextSerializer().Serialize(registry_.Collect()); }

 private:
  prometheus::Registry registry_;
};

struct RenderSeconds {
  double text, open_metrics, compressing;
};

// Rendering a view of all series, each time for a new snapshot.
RenderSeconds MeasureRendering(const MetricsSize& size, int rounds) {
  MetricsWorld world(size);
  const daemon::Caller caller = world.CallerOf(0);
  Exposition text(MetricsFormat::kText), open_metrics(MetricsFormat::kOpenMetrics);
  TextBuffer buffer;
  BestTime best_text, best_open_metrics, best_compressing;
  for (int round = 0; round < rounds; ++round) {
    world.Publish();
    const auto devices = world.reader.Devices(caller);
    buffer.Clear();
    best_open_metrics.Measure([&] { open_metrics.Render(devices, buffer); });
    buffer.Clear();
    best_text.Measure([&] { text.Render(devices, buffer); });
    best_compressing.Measure([&] { daemon::Deflate(buffer.text()); });
  }
  return {best_text.seconds(), best_open_metrics.seconds(), best_compressing.seconds()};
}

double MeasurePrometheusCpp(const MetricsSize& size, int rounds) {
  const PrometheusCpp library(size);
  BestTime best;
  for (int round = 0; round < rounds; ++round) best.Measure([&] { library.Serialize(); });
  return best.seconds();
}

// Fetching and copying answers of a rendered view, as for a socket, beside the copy alone.
Row MeasureCachedScrape() {
  MetricsWorld world(kMany);
  world.Publish();
  daemon::ExpositionCache cache;
  const daemon::Caller caller = world.CallerOf(0);
  const auto devices = world.reader.Devices(caller);
  const std::string bytes = cache.Scrape(caller, devices, {}, "").ToString();
  std::string out(bytes.size() + 4096, '\0');
  BestTime cached, copied;
  for (int round = 0; round < 51; ++round) {
    copied.Measure([&] { std::memcpy(out.data(), bytes.data(), bytes.size()); });
    cached.Measure([&] {
      const daemon::Body body = cache.Scrape(caller, devices, {}, "");
      std::memcpy(out.data(), body.head.data(), body.head.size());
      std::memcpy(out.data() + body.head.size(), body.shared.data(), body.shared.size());
    });
  }
  return {"scrape of a cached view of 90,000 series, of a memcpy", cached.seconds() / copied.seconds(), "x",
          absl::StrFormat("%.1f MB", static_cast<double>(bytes.size()) / 1e6)};
}

Rows RowsOfMany(const RenderSeconds& ours, double library) {
  const double series = static_cast<double>(kMany.series_per_tenant());
  return {{"rendering 90,000 series, prometheus-cpp's time of ours", library / ours.text, "x",
           absl::StrFormat("%.2f ms, %.0f ns a series", ours.text * 1e3, ours.text / series * 1e9)},
          {"rendering them as OpenMetrics with _created, likewise", library / ours.open_metrics, "x",
           absl::StrFormat("%.2f ms", ours.open_metrics * 1e3)},
          {"compressing them, of rendering", ours.compressing / ours.text, "x",
           absl::StrFormat("%.2f ms", ours.compressing * 1e3)}};
}

// The time of a series, of that of a counter: a utilisation is a quotient and has up to 17 digits.
Row RowOfUtilisations(const RenderSeconds& counters) {
  constexpr MetricsSize kHalf = {.tenants = 1, .contexts = 1405, .events = 32, .utilisations = true};
  const double per_counter = counters.text / static_cast<double>(kMany.series_per_tenant());
  const double per_series = MeasureRendering(kHalf, 15).text / static_cast<double>(kHalf.series_per_tenant());
  return {"rendering 88,578 series, half of them utilisations, of counters alone", per_series / per_counter, "x",
          absl::StrFormat("%.0f ns a series", per_series * 1e9)};
}

// The time of a series, of that of a counter: an estimate has its coverage, its bounds and its error.
Row RowOfEstimates(const RenderSeconds& counters) {
  constexpr MetricsSize kFifth = {.tenants = 1, .contexts = 1405, .events = 13, .rotating = true};
  const double per_counter = counters.text / static_cast<double>(kMany.series_per_tenant());
  const double per_series = MeasureRendering(kFifth, 15).text / static_cast<double>(kFifth.series_per_tenant());
  return {"rotation: rendering 85,766 series of estimates, of counters alone", per_series / per_counter, "x",
          absl::StrFormat("%.0f ns a series", per_series * 1e9)};
}

// From 100 series to a million.
std::vector<Curve> MeasureCurves() {
  std::vector<Curve> curves = {{"text", {}}, {"OpenMetrics", {}}, {"compressing the text", {}}, {"prometheus-cpp", {}}};
  for (const size_t contexts : {9, 99, 312, 1562, 15624}) {
    const size_t events = contexts < 100 ? 10 : 64;
    const MetricsSize size{.tenants = 1, .contexts = contexts, .events = events};
    const auto series = static_cast<double>(size.series_per_tenant());
    const int rounds = series > 200'000 ? 3 : 9;
    const RenderSeconds ours = MeasureRendering(size, rounds);
    const double library = MeasurePrometheusCpp(size, series > 200'000 ? 1 : 3);
    const double milliseconds[] = {ours.text, ours.open_metrics, ours.compressing, library};
    for (size_t i = 0; i < curves.size(); ++i) curves[i].points.push_back({series, milliseconds[i] * 1e3});
  }
  return curves;
}

}  // namespace

ExpositionCost MeasureExpositionCost() {
  ExpositionCost cost;
  const RenderSeconds counters = MeasureRendering(kMany, 15);
  cost.rows = RowsOfMany(counters, MeasurePrometheusCpp(kMany, 5));
  cost.rows.push_back(RowOfUtilisations(counters));
  cost.rows.push_back(RowOfEstimates(counters));
  cost.rows.push_back(MeasureCachedScrape());
  cost.curves = MeasureCurves();
  cost.rows.push_back(
      {"rendering, growth from 100 to 1,000,000 series", Slope(cost.curves[0]), "exponent", "1: linear"});
  return cost;
}

}  // namespace sideband::bench
