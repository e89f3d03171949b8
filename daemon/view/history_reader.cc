// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/history_reader.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "daemon/view/device_history.h"
#include "daemon/view/history_window.h"
#include "daemon/view/row_filter.h"
#include "daemon/view/topology_views.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

using sideband::v1::GetHistoryRequest;
using sideband::v1::GetHistoryResponse;

// A request with the history that may answer it.
class HistoryQuestion {
 public:
  HistoryQuestion(Reader& reader, const Store& store, const History& history, const Caller& caller,
                  const GetHistoryRequest& request, HistoryRows rows)
      : reader_(reader), caller_(caller), filter_(request.filter(), rows == HistoryRows::kAll), views_(reader, caller) {
    // Includes devices that the caller cannot see: the views of their topologies decide.
    const auto listed = store.devices();
    for (const auto& [id, info] : *listed) {
      if (filter_.SelectsDevice({.index = id, .info = info})) pasts_.push_back({info, history.Chunks(id)});
    }
  }

  absl::Status Check();
  absl::StatusOr<GetHistoryResponse> Answer(const HistoryWindow& window);

 private:
  struct Past {
    std::shared_ptr<const DeviceInfo> info;
    std::vector<ChunkView> chunks;
  };

  std::optional<GetHistoryResponse> Build(const HistoryWindow& window);
  // Estimates what the window has.
  void Measure(const HistoryWindow& window);

  Reader& reader_;
  const Caller& caller_;
  const RowFilter filter_;
  TopologyViews views_;
  std::vector<Past> pasts_;
  AnswerSize size_;
};

// A past object may be named like a present object: its owner sees it in the past.
absl::Status HistoryQuestion::Check() {
  std::vector<VisibleDevice> devices = reader_.Devices(caller_);
  if (filter_.Check(devices).ok()) return absl::OkStatus();
  // Views of the past are computed only for a request that names an object which is not present.
  const bool sees_all = caller_.May(Resource::Device(), Right::kRead);
  for (const Past& past : pasts_) {
    absl::flat_hash_set<const View*> seen;
    for (const ChunkView& chunk : past.chunks) {
      auto view = views_.Of(*past.info, chunk.layout().topology, chunk.last_steady);
      if (!seen.insert(view.get()).second) continue;
      if (sees_all || view->sees_device()) devices.push_back({.info = past.info, .view = std::move(view)});
    }
  }
  return filter_.Check(devices);
}

void HistoryQuestion::Measure(const HistoryWindow& window) {
  absl::Time first = absl::InfiniteFuture();
  absl::Time last = absl::InfinitePast();
  for (const Past& past : pasts_) {
    double points = 0;
    const ChunkView* newest = nullptr;
    for (const ChunkView& chunk : past.chunks) {
      if (!window.Overlaps(chunk.first, chunk.last)) continue;
      const absl::Time from = std::max(chunk.first, window.since);
      const absl::Time to = std::min(chunk.last, window.until);
      first = std::min(first, from);
      last = std::max(last, to);
      // Takes the frames as evenly spaced over the chunk.
      points += 1 + chunk.frames * absl::FDivDuration(to - from, chunk.last - chunk.first + absl::Nanoseconds(1));
      newest = &chunk;
    }
    if (newest == nullptr) continue;
    const Layout& layout = newest->layout();
    const auto rows =
        ShownRows(*past.info, layout, *views_.Of(*past.info, layout.topology, newest->last_steady), filter_);
    if (rows.empty()) continue;
    size_.points = std::max(size_.points, points);
    size_.values_per_point += static_cast<double>(ValuesPerPoint(rows));
  }
  size_.span = std::max(last - first, absl::ZeroDuration());
}

// nullopt where the response would be too large.
std::optional<GetHistoryResponse> HistoryQuestion::Build(const HistoryWindow& window) {
  GetHistoryResponse response;
  int64_t values_left = kHistoryValuesMax;
  for (const Past& past : pasts_) {
    DeviceHistoryBuilder builder(*past.info, filter_, views_, window, values_left);
    for (size_t i = 0; i < past.chunks.size() && values_left >= 0; ++i) {
      builder.Add(past.chunks[i], i + 1 < past.chunks.size() ? &past.chunks[i + 1] : nullptr);
    }
    sideband::v1::DeviceHistory device = std::move(builder).Take();
    // A device of which the caller may see nothing is left out.
    if (device.has_oldest()) *response.add_devices() = std::move(device);
  }
  return IfFits(std::move(response), window, values_left);
}

absl::StatusOr<GetHistoryResponse> HistoryQuestion::Answer(const HistoryWindow& window) {
  Measure(window);
  const auto build = [this](const HistoryWindow& part) { return Build(part); };
  return AnswerWithin(window, size_, build, "name a VM, a context or events");
}

}  // namespace

absl::Status NoHistory() { return absl::FailedPreconditionError("this daemon keeps no history"); }

absl::StatusOr<GetHistoryResponse> HistoryReader::Get(const Caller& caller, const GetHistoryRequest& request,
                                                      HistoryRows rows) const {
  if (history_.max_bytes() == 0) return NoHistory();
  SIDEBAND_ASSIGN_OR_RETURN(const HistoryWindow window, WindowOf(request));
  HistoryQuestion question(reader_, store_, history_, caller, request, rows);
  SIDEBAND_RETURN_IF_ERROR(question.Check());
  return question.Answer(window);
}

std::vector<std::string> HistoryReader::SeenSince(const Caller& caller, absl::Time since, const RowFilter& filter,
                                                  const std::set<size_t>& known) const {
  std::vector<std::string> seen;
  TopologyViews views(reader_, caller);
  const auto listed = store_.devices();
  for (const StoredDevice& stored : *listed) {
    if (known.contains(stored.id) || !filter.SelectsDevice({.index = stored.id, .info = stored.info})) continue;
    const std::vector<ChunkView> chunks = history_.Chunks(stored.id);
    const bool was_seen = std::ranges::any_of(chunks, [&](const ChunkView& chunk) {
      return chunk.last > since &&
             Reader::Sees(caller, *stored.info,
                          views.Of(*stored.info, chunk.layout().topology, chunk.last_steady).get());
    });
    if (was_seen) seen.push_back(stored.info->name);
  }
  return seen;
}

}  // namespace sideband::daemon
