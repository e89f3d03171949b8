// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/history_query.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "daemon/api/device_history.h"
#include "daemon/api/row_filter.h"
#include "daemon/api/time_message.h"
#include "daemon/api/topology_views.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

using sideband::v1::GetHistoryRequest;
using sideband::v1::GetHistoryResponse;

// Steps that people think in; beyond a day, doubled.
absl::Duration RoundStepAtLeast(absl::Duration least) {
  for (const int milliseconds : {10, 20, 50, 100, 200, 500}) {
    if (absl::Milliseconds(milliseconds) >= least) return absl::Milliseconds(milliseconds);
  }
  for (const int seconds : {1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 6 * 3600, 12 * 3600}) {
    if (absl::Seconds(seconds) >= least) return absl::Seconds(seconds);
  }
  absl::Duration step = absl::Hours(24);
  while (step < least) step *= 2;
  return step;
}

absl::StatusOr<HistoryWindow> WindowOf(const GetHistoryRequest& request) {
  HistoryWindow window;
  if (request.has_since()) {
    SIDEBAND_ASSIGN_OR_RETURN(window.since, TimeOf(request.since(), "since"));
  }
  if (request.has_until()) {
    SIDEBAND_ASSIGN_OR_RETURN(window.until, TimeOf(request.until(), "until"));
  }
  if (window.since > window.until) return absl::InvalidArgumentError("since: is after until");
  if (request.has_step()) {
    SIDEBAND_ASSIGN_OR_RETURN(window.step, PositiveDurationOf(request.step(), "step"));
  }
  return window;
}

// One request with what it may be answered from.
class Question {
 public:
  Question(Reader& reader, const History& history, const Caller& caller, const GetHistoryRequest& request)
      : reader_(reader), caller_(caller), filter_(request.filter()), views_(reader, caller) {
    const auto& devices = reader.store().devices();
    for (size_t i = 0; i < devices.size(); ++i) {
      if (filter_.SelectsDevice({.index = i, .info = &devices[i]})) pasts_.push_back({&devices[i], history.Chunks(i)});
    }
  }

  absl::Status Check();
  absl::StatusOr<GetHistoryResponse> Answer(HistoryWindow window);

 private:
  struct Past {
    const DeviceInfo* info;
    std::vector<ChunkView> chunks;
  };

  std::optional<GetHistoryResponse> Build(const HistoryWindow& window);
  // From the first to the last that there is to tell, and about how many points of how many numbers.
  void Measure(const HistoryWindow& window);

  Reader& reader_;
  const Caller& caller_;
  const RowFilter filter_;
  TopologyViews views_;
  std::vector<Past> pasts_;
  absl::Duration span_;
  double points_ = 0;
  double values_per_point_ = 0;
};

// What is gone may be named like what is there: its owner sees it in the past.
absl::Status Question::Check() {
  std::vector<VisibleDevice> devices = reader_.Devices(caller_);
  if (filter_.Check(devices).ok()) return absl::OkStatus();
  const bool sees_all = caller_.May(Resource::Device(), Right::kRead);
  for (const Past& past : pasts_) {
    absl::flat_hash_set<const Topology*> seen;
    for (const ChunkView& chunk : past.chunks) {
      const auto& topology = chunk.layout().topology;
      if (!seen.insert(topology.get()).second) continue;
      auto view = views_.Of(*past.info, topology);
      if (sees_all || view->sees_device()) devices.push_back({.info = past.info, .view = std::move(view)});
    }
  }
  return filter_.Check(devices);
}

void Question::Measure(const HistoryWindow& window) {
  absl::Time first = absl::InfiniteFuture();
  absl::Time last = absl::InfinitePast();
  for (const Past& past : pasts_) {
    double points = 0;
    const Layout* newest = nullptr;
    for (const ChunkView& chunk : past.chunks) {
      if (!window.Overlaps(chunk)) continue;
      const absl::Time from = std::max(chunk.first, window.since);
      const absl::Time to = std::min(chunk.last, window.until);
      first = std::min(first, from);
      last = std::max(last, to);
      points += 1 + chunk.frames * absl::FDivDuration(to - from, chunk.last - chunk.first + absl::Nanoseconds(1));
      newest = &chunk.layout();
    }
    if (newest == nullptr) continue;
    const auto rows = ShownRows(*past.info, *newest, *views_.Of(*past.info, newest->topology), filter_);
    if (rows.empty()) continue;
    points_ = std::max(points_, points);
    values_per_point_ += static_cast<double>(ValuesPerPoint(rows));
  }
  span_ = std::max(last - first, absl::ZeroDuration());
}

// nullopt: it would be too large.
std::optional<GetHistoryResponse> Question::Build(const HistoryWindow& window) {
  GetHistoryResponse response;
  int64_t values_left = kHistoryValuesMax;
  for (const Past& past : pasts_) {
    DeviceHistoryBuilder builder(*past.info, filter_, views_, window, values_left);
    for (size_t i = 0; i < past.chunks.size() && values_left >= 0; ++i) {
      builder.Add(past.chunks[i], i + 1 < past.chunks.size() ? &past.chunks[i + 1] : nullptr);
    }
    sideband::v1::DeviceHistory device = std::move(builder).Take();
    if (device.has_oldest()) *response.add_devices() = std::move(device);
  }
  if (values_left < 0 || response.ByteSizeLong() > kHistoryAnswerBytesMax) return std::nullopt;
  if (window.step != absl::ZeroDuration()) SetDuration(window.step, *response.mutable_step());
  return response;
}

absl::StatusOr<GetHistoryResponse> Question::Answer(HistoryWindow window) {
  Measure(window);
  const double points_max = static_cast<double>(kHistoryValuesMax) / std::max(values_per_point_, 1.0);
  const absl::Duration least = span_ / std::max(points_max, 1.0);
  if (points_ > points_max && window.step < least) window.step = RoundStepAtLeast(least);
  for (;;) {
    if (auto response = Build(window)) return *std::move(response);
    if (window.step > span_) break;
    window.step = RoundStepAtLeast(window.step + absl::Nanoseconds(1));
  }
  return absl::ResourceExhaustedError(
      absl::StrCat("even a few points are more than ", kHistoryValuesMax, " numbers: name a VM, a context or events"));
}

}  // namespace

absl::StatusOr<GetHistoryResponse> GetHistory(Reader& reader, const History* history, const Caller& caller,
                                              const GetHistoryRequest& request) {
  if (history == nullptr) return absl::FailedPreconditionError("this daemon keeps no history");
  SIDEBAND_ASSIGN_OR_RETURN(const HistoryWindow window, WindowOf(request));
  Question question(reader, *history, caller, request);
  SIDEBAND_RETURN_IF_ERROR(question.Check());
  return question.Answer(window);
}

}  // namespace sideband::daemon
