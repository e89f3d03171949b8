// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/history_reader.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "daemon/history/chunk.h"
#include "daemon/snapshot/message.h"
#include "daemon/view/history_window.h"
#include "daemon/view/replay.h"
#include "daemon/view/row_filter.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

std::string IdentityOf(const Layout& layout, const ShownRow& shown) {
  const Layout::Row& row = layout.rows[shown.row];
  std::string identity = absl::StrCat(layout.boot_id, " ", row.vm, " ", row.context, " ");
  for (const size_t event : shown.events) {
    const char* const end = layout.IsEstimated(event) ? "~ " : layout.topology->coverage().IsGated(event) ? "| " : " ";
    absl::StrAppend(&identity, layout.topology->catalog().events[event].name, end);
  }
  return identity + shown.scope.SerializeAsString();
}

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

std::vector<ShownRow> ShownRows(const DeviceInfo& device, const Layout& layout, const View& view,
                                const RowFilter& filter) {
  std::vector<ShownRow> shown_rows;
  for (size_t row = 0; row < layout.rows.size(); ++row) {
    const auto [vm, context, generation] = layout.rows[row];
    const EventSet selected = filter.SelectedEvents(view, vm, context);
    ShownRow shown{.row = row};
    for (size_t event = 0; event < selected.size() && event < layout.events; ++event) {
      if (!selected[event] || !layout.IsShown(row, event)) continue;
      shown.events.push_back(event);
      if (layout.IsEstimated(event)) {
        ++shown.estimated;
      } else if (layout.topology->coverage().IsGated(event)) {
        ++shown.gated;
      }
    }
    if (shown.events.empty()) continue;
    shown.scope = ScopeMessage(device, *layout.topology, vm, context);
    shown.scope.set_generation(generation);
    shown.identity = IdentityOf(layout, shown);
    shown_rows.push_back(std::move(shown));
  }
  return shown_rows;
}

int64_t ValuesPerPoint(const std::vector<ShownRow>& rows) {
  constexpr int64_t kPoint = 4;  // the times and ids of a point
  int64_t values = kPoint;
  for (const ShownRow& row : rows)
    values += static_cast<int64_t>(row.events.size() + 2 * row.gated + 3 * row.estimated);
  return values;
}

void DeviceHistoryBuilder::Add(const ChunkView& chunk, const ChunkView* next) {
  const bool is_in_window = window_.Overlaps(chunk.first, chunk.last);
  // Outside of the window, a chunk matters only for `oldest`.
  if (!is_in_window && message_.has_oldest()) return;
  Enter(chunk);
  if (rows_.empty()) return;
  // `oldest` is of the device's first visible chunk, even if that is before the window.
  const bool is_whole =
      std::ranges::any_of(rows_, [](const Row& row) { return row.since == -absl::InfiniteDuration(); });
  if (is_whole && !message_.has_oldest()) SetTime(chunk.first, *message_.mutable_oldest());
  if (!is_in_window && message_.has_oldest()) return;
  // Beyond its limit the answer is discarded and built with a longer step, so the rest need not be decoded.
  for (ChunkReader frame(chunk); values_left_ >= 0 && frame.Next();) {
    if (!IsOwn(frame)) continue;
    if (!message_.has_oldest()) SetTime(frame.header().host_time(), *message_.mutable_oldest());
    if (IsWanted(frame, next)) AddPoint(frame);
  }
}

bool DeviceHistoryBuilder::IsOwn(const ChunkReader& frame) const {
  return std::ranges::any_of(rows_, [&](const Row& row) { return frame.header().steady_time() > row.since; });
}

void DeviceHistoryBuilder::Enter(const ChunkView& chunk) {
  const Layout& layout = chunk.layout();
  std::shared_ptr<const View> view = views_.Of(device_, layout.topology, chunk.last_steady);
  const bool goes_on = current_ && current_->layout() == layout && view_ == view;
  current_ = chunk;
  view_ = std::move(view);
  if (goes_on) return;
  // A row with the same identity continues its series.
  absl::flat_hash_map<std::string, Row> before;
  for (Row& row : rows_) before.emplace(row.shown.identity, std::move(row));
  rows_.clear();
  for (ShownRow& shown : ShownRows(device_, layout, *view_, filter_)) {
    Row row;
    if (const auto same = before.find(shown.identity); same != before.end()) row = std::move(same->second);
    const mailbox::VmInfo* const vm = layout.topology->FindVm(layout.rows[shown.row].vm);
    row.since = vm == nullptr ? -absl::InfiniteDuration() : views_.tenures().Since(vm->uuid);
    row.shown = std::move(shown);
    rows_.push_back(std::move(row));
  }
}

bool DeviceHistoryBuilder::IsWanted(const ChunkReader& frame, const ChunkView* next) const {
  const FrameHeader& header = frame.header();
  if (!window_.Has(header.host_time())) return false;
  // Other frames are in the chunk for another reason, possibly the end of a row that the caller may not see.
  if (header.publication % frame.view().every == 0) {
    if (window_.step == absl::ZeroDuration() || last_step_ != window_.StepOf(header.host_time())) return true;
  }
  // The last counts of a row that ends, which no later frame has.
  return frame.is_last() && frame.view().is_final && next != nullptr && EndsARow(frame, *next);
}

bool DeviceHistoryBuilder::EndsARow(const ChunkReader& frame, const ChunkView& next) const {
  absl::flat_hash_set<std::string> following;
  const auto view = views_.Of(device_, next.layout().topology, next.last_steady);
  for (ShownRow& row : ShownRows(device_, next.layout(), *view, filter_)) following.insert(std::move(row.identity));
  return std::ranges::any_of(rows_, [&](const Row& row) {
    return frame.header().steady_time() > row.since && !following.contains(row.shown.identity);
  });
}

void DeviceHistoryBuilder::AddPoint(const ChunkReader& frame) {
  const FrameHeader& header = frame.header();
  sideband::v1::HistoryPoint& point = *message_.add_points();
  SetTime(header.host_time(), *point.mutable_host_time());
  SetDuration(header.host_time_error(), *point.mutable_host_time_error());
  point.set_reference_time_ns(header.reference_time_ns);
  point.set_snapshot_id(static_cast<uint32_t>(header.snapshot_id));
  values_left_ -= ValuesPerPoint({});
  for (Row& row : rows_) {
    if (header.steady_time() > row.since) AddToSeries(frame, row);
  }
  if (window_.step != absl::ZeroDuration()) last_step_ = window_.StepOf(header.host_time());
}

void DeviceHistoryBuilder::AddToSeries(const ChunkReader& frame, Row& row) {
  const uint64_t status = frame.Status(row.shown.row);
  const bool is_first = !row.series;
  sideband::v1::HistorySeries& series =
      is_first ? StartSeries(frame.view().layout(), row) : *message_.mutable_series(*row.series);
  for (size_t i = 0; i < row.shown.events.size(); ++i) {
    // Rows of one identity have the same events in the same order: the columns of the series.
    sideband::v1::HistoryColumn& column = *series.mutable_columns(static_cast<int>(i));
    if (frame.view().layout().IsEstimated(row.shown.events[i])) {
      AddEstimate(frame, row, i, column);
      continue;
    }
    column.add_counts(frame.Count(row.shown.row, row.shown.events[i]));
    AddCoverage(frame, row, i, column);
  }
  values_left_ -= static_cast<int64_t>(row.shown.events.size() + 2 * row.shown.gated + 3 * row.shown.estimated);
  // A status is recorded only where it changes.
  if (!is_first && status == row.status) return;
  row.status = status;
  sideband::v1::HistoryStatus& change = *series.add_statuses();
  change.set_point(static_cast<uint32_t>(message_.points_size()) - 1);
  change.set_state(StateMessage(StateOfStatus(status)));
  for (std::string& flag : mailbox::FlagNames(FlagsOfStatus(status))) change.add_flags(std::move(flag));
  values_left_ -= 1 + 2 * change.flags_size();
}

void DeviceHistoryBuilder::AddEstimate(const ChunkReader& frame, Row& row, size_t i,
                                       sideband::v1::HistoryColumn& column) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  const auto shown = frame.Shown(row.shown.row, row.shown.events[i]);
  row.was_shown.resize(row.shown.events.size());
  const bool was_shown = row.was_shown[i];
  row.was_shown[i] = shown.has_value();
  column.add_counts(shown.value_or(0));
  column.add_lowers(frame.Count(row.shown.row, row.shown.events[i]));
  // 0: there is no number, and no difference of two.
  column.mutable_coverage()->add_of_counts(shown ? kUnknown : 0);
  column.mutable_coverage()->add_of_intervals(shown && was_shown ? kUnknown : 0);
}

void DeviceHistoryBuilder::AddCoverage(const ChunkReader& frame, Row& row, size_t i,
                                       sideband::v1::HistoryColumn& column) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  const Coverage& coverage = frame.view().layout().topology->coverage();
  if (!coverage.IsGated(row.shown.events[i])) return;
  row.cycles.resize(row.shown.events.size());
  double of_count = kUnknown, of_interval = kUnknown;
  if (const auto events = coverage.CyclesOf(row.shown.events[i])) {
    const auto count = [&](size_t event) { return frame.Count(row.shown.row, event); };
    const Row::Cycles now = {.running = count(events->running), .resident = count(events->resident)};
    const auto before = std::exchange(row.cycles[i], now);
    of_count = Coverage::OfCycles(now.running, now.resident);
    if (before && now.resident > before->resident && now.running >= before->running) {
      of_interval = Coverage::OfCycles(now.running - before->running, now.resident - before->resident);
    }
  } else {
    row.cycles[i].reset();
  }
  column.mutable_coverage()->add_of_counts(of_count);
  column.mutable_coverage()->add_of_intervals(of_interval);
}

sideband::v1::HistorySeries& DeviceHistoryBuilder::StartSeries(const Layout& layout, Row& row) {
  constexpr int64_t kSeries = 12, kColumn = 2;  // estimates for names, ids and lengths
  row.series = message_.series_size();
  sideband::v1::HistorySeries& series = *message_.add_series();
  *series.mutable_scope() = row.shown.scope;
  series.set_boot_id(layout.boot_id);
  series.set_first_point(static_cast<uint32_t>(message_.points_size()) - 1);
  for (const size_t event : row.shown.events) {
    series.add_columns()->set_event(EventIndex(layout.topology->catalog().events[event].name));
  }
  values_left_ -= kSeries + kColumn * series.columns_size();
  return series;
}

uint32_t DeviceHistoryBuilder::EventIndex(const std::string& name) {
  const auto [entry, is_new] = event_indices_.try_emplace(name, static_cast<uint32_t>(event_indices_.size()));
  if (is_new) message_.add_events(name);
  return entry->second;
}

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
