// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/sensor_history_reader.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "daemon/snapshot/message.h"
#include "daemon/view/history_reader.h"
#include "daemon/view/history_window.h"
#include "daemon/view/sensor_queries.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

// Equal for one sensor in two layouts.
std::string NameOf(const SensorSeries& series) {
  std::string name = series.family->name;
  // No label has the separators: boards' texts are printable.
  for (const auto& [label, value] : series.labels) absl::StrAppend(&name, "\n", label, "\t", value);
  return name;
}

using sideband::v1::GetSensorHistoryRequest;
using sideband::v1::GetSensorHistoryResponse;

// A chunk, and which series of its layout are shown.
struct ShownChunk {
  SensorChunkView view;
  absl::Time since;  // from when on
  std::vector<size_t> series;
};

std::set<uint8_t> PartitionsOf(const std::vector<SensorChunkView>& chunks) {
  std::set<uint8_t> partitions;
  for (const SensorChunkView& chunk : chunks) {
    for (const SensorSeries& series : chunk.layout().series) {
      if (series.partition) partitions.insert(*series.partition);
    }
  }
  return partitions;
}

// The part of a device's board that the caller may see, and since when. Decides of a series as its family does.
class PastPart {
 public:
  PastPart(const Caller& caller, const std::string& device, const std::set<uint8_t>& partitions, const Tenures& tenures)
      : part_(VisiblePart(caller, device, partitions)) {
    if (caller.principal.role != Principal::Role::kTenant) return;
    const std::string& tenant = caller.policy.policy->tenants()[caller.principal.tenant].name;
    for (const uint8_t partition : partitions) since_[partition] = tenures.OfPartition(tenant, device, partition);
  }

  // From when on the series is shown; nullopt: not at all.
  std::optional<absl::Time> Since(const SensorChunkView& chunk, const SensorSeries& series) const {
    if (part_.is_whole()) return absl::InfinitePast();
    const auto metric = series.family->partition_metric;
    if (!metric || !series.partition || !part_.Shows(*series.partition, *metric)) return std::nullopt;
    const PartitionTenure& tenure = since_.at(*series.partition);
    if (chunk.newest <= tenure.place || chunk.last < tenure.time) return std::nullopt;
    return tenure.time;
  }

 private:
  const BoardPart part_;
  std::map<uint8_t, PartitionTenure> since_;
};

// A request with the history that may answer it.
class SensorHistoryQuestion {
 public:
  SensorHistoryQuestion(Reader& reader, const SensorHistory& history, const Caller& caller,
                        const GetSensorHistoryRequest& request)
      : filter_(request.filter()), names_(filter_.names().begin(), filter_.names().end()), missing_(names_) {
    for (const VisibleDevice& device : reader.Devices(caller)) {
      const std::string& name = device.info->name;
      if (!filter_.device().empty() && filter_.device() != name) continue;
      std::vector<SensorChunkView> chunks = history.Chunks(device.index);
      const PastPart part(caller, name, PartitionsOf(chunks), reader.tenures());
      AddDevice(name, part, std::move(chunks));
    }
  }

  // Whether all that is named exists. What is not in the history may be in the present: it may be too old, or the
  // device has no board.
  absl::Status Check(const Caller& caller, const SensorQueries& present) const;
  absl::StatusOr<GetSensorHistoryResponse> Answer(const HistoryWindow& window) const;

 private:
  using Past = std::pair<std::string, std::vector<ShownChunk>>;  // a device, and its chunks, of which there are some

  void AddDevice(const std::string& device, const PastPart& part, std::vector<SensorChunkView> chunks);
  AnswerSize Measure(const HistoryWindow& window) const;
  // nullopt where the response would be too large.
  std::optional<GetSensorHistoryResponse> Build(const HistoryWindow& window) const;

  const sideband::v1::SensorFilter& filter_;
  const SensorNames names_;
  SensorNames missing_;  // of which there is no past that the caller sees
  std::vector<Past> pasts_;
};

void SensorHistoryQuestion::AddDevice(const std::string& device, const PastPart& part,
                                      std::vector<SensorChunkView> chunks) {
  std::vector<ShownChunk> shown;
  for (SensorChunkView& view : chunks) {
    // Partitions of one tenant may have been granted at different times.
    std::map<absl::Time, std::vector<size_t>> series;
    for (size_t i = 0; i < view.layout().series.size(); ++i) {
      const SensorSeries& one = view.layout().series[i];
      const std::string& name = one.family->name;
      const std::optional<absl::Time> since = part.Since(view, one);
      if (!since || !(names_.empty() || names_.contains(name))) continue;
      missing_.erase(name);
      series[*since].push_back(i);
    }
    for (auto& [since, of_time] : series) shown.push_back({view, since, std::move(of_time)});
  }
  if (!shown.empty()) pasts_.emplace_back(device, std::move(shown));
}

absl::Status SensorHistoryQuestion::Check(const Caller& caller, const SensorQueries& present) const {
  const bool is_there = filter_.device().empty() || !pasts_.empty();
  if (is_there && missing_.empty()) return absl::OkStatus();
  sideband::v1::ListSensorsRequest request;
  request.mutable_filter()->set_device(filter_.device());
  for (const std::string& name : missing_) request.mutable_filter()->add_names(name);
  return present.List(caller, request).status();
}

AnswerSize SensorHistoryQuestion::Measure(const HistoryWindow& window) const {
  absl::Time first = absl::InfiniteFuture(), last = absl::InfinitePast();
  double values = 0;
  std::map<std::pair<std::string, BoardGroup>, double> points;
  for (const auto& [device, chunks] : pasts_) {
    for (const auto& [view, since, series] : chunks) {
      if (!window.Overlaps(view.first, view.last)) continue;
      const absl::Time from = std::max(view.first, window.since), to = std::min(view.last, window.until);
      first = std::min(first, from);
      last = std::max(last, to);
      // Takes the frames as evenly spaced over the chunk.
      const double frames =
          1 + view.frames * absl::FDivDuration(to - from, view.last - view.first + absl::Nanoseconds(1));
      points[{device, view.layout().group}] += frames;
      values += frames * static_cast<double>(kNumbersPerValue * series.size());
    }
  }
  AnswerSize size{.span = std::max(last - first, absl::ZeroDuration())};
  for (const auto& [group, of_group] : points) size.points = std::max(size.points, of_group);
  size.values_per_point = values / std::max(size.points, 1.0);
  return size;
}

std::optional<GetSensorHistoryResponse> SensorHistoryQuestion::Build(const HistoryWindow& window) const {
  GetSensorHistoryResponse response;
  int64_t values_left = kHistoryValuesMax;
  for (const auto& [device, chunks] : pasts_) {
    SensorColumnsBuilder builder(device, window, values_left);
    for (const auto& [view, since, series] : chunks) builder.Add(view, series, since);
    *response.add_devices() = std::move(builder).Take();
  }
  return IfFits(std::move(response), window, values_left);
}

absl::StatusOr<GetSensorHistoryResponse> SensorHistoryQuestion::Answer(const HistoryWindow& window) const {
  const auto build = [this](const HistoryWindow& part) { return Build(part); };
  return AnswerWithin(window, Measure(window), build, "name a device or metrics");
}

}  // namespace

const std::vector<SensorColumnsBuilder::Track*>& SensorColumnsBuilder::TracksOf(const SensorLayout& layout) {
  const auto [at, is_new] = by_layout_.try_emplace(&layout);
  if (!is_new) return at->second;
  for (const SensorSeries& series : layout.series) {
    Track*& track = by_name_[NameOf(series)];
    if (track == nullptr) track = tracks_.emplace_back(std::make_unique<Track>(Track{.series = &series})).get();
    at->second.push_back(track);
  }
  return at->second;
}

void SensorColumnsBuilder::Add(const SensorChunkView& chunk, const std::vector<size_t>& shown, absl::Time since) {
  if (shown.empty() || values_left_ < 0) return;
  oldest_ = std::min(oldest_, std::max(chunk.first, since));
  if (!window_.Overlaps(chunk.first, chunk.last)) return;
  const std::vector<Track*>& tracks = TracksOf(chunk.layout());
  for (SensorChunkReader reader(chunk); reader.Next();) {
    if (window_.Has(reader.frame().time()) && reader.frame().time() >= since) AddFrame(reader.frame(), shown, tracks);
  }
}

void SensorColumnsBuilder::AddFrame(const SensorFrame& frame, const std::vector<size_t>& shown,
                                    const std::vector<Track*>& tracks) {
  for (const size_t series : shown) {
    const SensorValue value = frame.Value(series);
    if (value.form != ValueForm::kAbsent) AddSample({frame.time(), value}, *tracks[series]);
  }
}

void SensorColumnsBuilder::AddSample(const Sample& sample, Track& track) {
  if (track.columns.empty() || track.created_ns != sample.value.created_ns) StartColumn(sample, track);
  const bool has_steps = window_.step != absl::ZeroDuration();
  if (has_steps && track.last_step == window_.StepOf(sample.time)) {
    track.skipped = sample;
    return;
  }
  if (has_steps) track.last_step = window_.StepOf(sample.time);
  Append(sample, track);
}

void SensorColumnsBuilder::StartColumn(const Sample& sample, Track& track) {
  // The counter's last count: without it, what was counted up to its end would be lost.
  if (track.skipped) Append(*track.skipped, track);
  values_left_ -= kNumbersPerColumn;
  track.last_step.reset();
  track.created_ns = sample.value.created_ns;
  sideband::v1::SensorColumn& column = track.columns.emplace_back();
  const SensorSeries& series = *track.series;
  column.set_name(series.family->name);
  SetLabels(series.labels, column);
  column.set_group(RowOf(series.family->group).name);
  if (!series.is_counter()) return;
  column.set_count_per_unit(series.count_per_unit);
  SetTime(absl::FromUnixNanos(static_cast<int64_t>(track.created_ns)), *column.mutable_created());
}

void SensorColumnsBuilder::Append(const Sample& sample, Track& track) {
  track.skipped.reset();
  values_left_ -= kNumbersPerValue;
  if (values_left_ < 0) return;
  sideband::v1::SensorColumn& column = track.columns.back();
  column.add_host_times_ns(absl::ToUnixNanos(sample.time));
  if (track.series->is_counter()) {
    column.add_counts(sample.value.word);
  } else {
    column.add_values(GaugeOf(sample.value));
  }
}

sideband::v1::DeviceSensorHistory SensorColumnsBuilder::Take() && {
  if (oldest_ != absl::InfiniteFuture()) SetTime(oldest_, *message_.mutable_oldest());
  // Families are in the order of their names.
  std::ranges::stable_sort(tracks_, {}, [](const auto& track) { return track->series->family; });
  for (const auto& track : tracks_) {
    for (sideband::v1::SensorColumn& column : track->columns) *message_.add_columns() = std::move(column);
  }
  return std::move(message_);
}

absl::StatusOr<GetSensorHistoryResponse> SensorHistoryReader::Get(const Caller& caller,
                                                                  const GetSensorHistoryRequest& request) const {
  if (history_.max_bytes() == 0) return NoHistory();
  SIDEBAND_ASSIGN_OR_RETURN(const HistoryWindow window, WindowOf(request));
  const SensorHistoryQuestion question(present_.reader(), history_, caller, request);
  SIDEBAND_RETURN_IF_ERROR(question.Check(caller, present_));
  return question.Answer(window);
}

}  // namespace sideband::daemon
