// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/sensor_queries.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "daemon/board/sensor_families.h"
#include "daemon/snapshot/message.h"
#include "daemon/view/history_reader.h"
#include "daemon/view/history_window.h"
#include "daemon/view/row_filter.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/board_items.h"

namespace sideband::daemon {
namespace {

using sideband::v1::GetSensorHistoryRequest;
using sideband::v1::GetSensorHistoryResponse;
using sideband::v1::SensorDescription;

// Every group waits for the device's interval at least, and a reading of many partitions beside another client of the
// mailbox takes most of a minute.
constexpr absl::Duration kSilenceMin = absl::Minutes(1);
constexpr int kIntervals = 3;  // as of snapshots

bool StillAnswers(const BoardReading& reading, absl::Duration interval, absl::Duration now) {
  const auto newest = NewestSample(reading);
  return newest && newest->steady + std::max(kSilenceMin, kIntervals * interval) >= now;
}

std::shared_ptr<const BoardReading> MeasuredAfter(std::shared_ptr<const BoardReading> reading, absl::Duration begin) {
  const auto is_before = [&](const auto& sample) { return sample.second.steady <= begin; };
  if (std::ranges::none_of(reading->samples, is_before)) return reading;
  auto own = std::make_shared<BoardReading>(*reading);
  for (const auto& sample : reading->samples) {
    if (is_before(sample)) ClearGroup(sample.first, *own);
  }
  return own;
}

std::set<uint8_t> PartitionsOf(const BoardReading& reading) {
  std::set<uint8_t> partitions;
  for (const auto& [scope, values] : reading.metrics.scopes) {
    if (scope.partition) partitions.insert(*scope.partition);
  }
  return partitions;
}

class ValueSeries final : public BoardSeries {
 public:
  ValueSeries(const SensorFamily& family, const BoardSight& sight, sideband::v1::DeviceSensors& out)
      : BoardSeries(sight), family_(family), out_(out) {}

 protected:
  void TakeGauge(SensorLabels labels, double value) override { Add(labels).set_value(value); }
  void TakeCount(SensorLabels labels, const RunningCount& count, uint32_t per_unit) override {
    sideband::v1::Sensor& sensor = Add(labels);
    sensor.set_value(static_cast<double>(count.value) / per_unit);
    sensor.set_count(count.value);
    sensor.set_count_per_unit(per_unit);
    SetTime(count.created, *sensor.mutable_created());
  }

 private:
  sideband::v1::Sensor& Add(SensorLabels labels) {
    sideband::v1::Sensor& sensor = *out_.add_sensors();
    sensor.set_name(family_.name);
    sensor.set_group(RowOf(family_.GroupIn(reading())).name);
    SetLabels(labels, sensor);
    return sensor;
  }

  const SensorFamily& family_;
  sideband::v1::DeviceSensors& out_;
};

class DescriptionSeries final : public BoardSeries {
 public:
  DescriptionSeries(const SensorFamily& family, const BoardSight& sight,
                    sideband::v1::ListSensorsResponse::DeviceSensors& out)
      : BoardSeries(sight), family_(family), out_(out) {}

 protected:
  void TakeGauge(SensorLabels labels, double) override { Add(labels, SensorDescription::KIND_GAUGE); }
  void TakeCount(SensorLabels labels, const RunningCount&, uint32_t) override {
    Add(labels, SensorDescription::KIND_COUNTER);
  }

 private:
  void Add(SensorLabels labels, SensorDescription::Kind kind) {
    SensorDescription& sensor = *out_.add_sensors();
    sensor.set_name(family_.name);
    SetLabels(labels, sensor);
    sensor.set_description(family_.help);
    sensor.set_kind(kind);
    sensor.set_group(RowOf(family_.GroupIn(reading())).name);
  }

  const SensorFamily& family_;
  sideband::v1::ListSensorsResponse::DeviceSensors& out_;
};

template <typename Series, typename Message>
void AddAll(const VisibleBoard& board, const SensorNames& names, absl::Duration now, Message& out) {
  out.set_device(board.device);
  const BoardSight sight = {*board.reading, board.part, now};
  for (const SensorFamily& family : SensorFamilies()) {
    // Sensor::groups has the ages.
    if (!IsShown(family, board.part) || family.name == kSampleAges) continue;
    if (!names.empty() && !names.contains(family.name)) continue;
    Series series(family, sight, out);
    family.write(series);
  }
}

void AddGroup(const BoardReading& reading, BoardGroup group, absl::Duration now, sideband::v1::DeviceSensors& out) {
  const auto sample = Find(reading.samples, group);
  if (!sample) return;
  sideband::v1::SensorGroup& message = *out.add_groups();
  message.set_name(RowOf(group).name);
  SetTime(sample->wall, *message.mutable_host_time());
  SetDuration(std::max(now - sample->steady, absl::ZeroDuration()), *message.mutable_age());
}

SensorNames NamesOf(const sideband::v1::SensorFilter& filter) { return {filter.names().begin(), filter.names().end()}; }

// Absent and denied metrics are indistinguishable.
template <typename Response>
absl::StatusOr<Response> WithAllNames(Response response, SensorNames missing) {
  for (const auto& device : response.devices()) {
    for (const auto& sensor : device.sensors()) missing.erase(sensor.name());
  }
  if (!missing.empty()) return NotFound();
  return response;
}

// Equal for one sensor in two layouts.
std::string NameOf(const SensorSeries& series) {
  std::string name = series.family->name;
  // No label has the separators: boards' texts are printable.
  for (const auto& [label, value] : series.labels) absl::StrAppend(&name, "\n", label, "\t", value);
  return name;
}

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
  PastPart(const Caller& caller, const DeviceInfo& device, const std::set<uint8_t>& partitions, const Tenures& tenures)
      : part_(VisiblePart(caller, device, partitions)) {
    if (caller.principal.role != Principal::Role::kTenant) return;
    const std::string& tenant = caller.policy.policy->tenants()[caller.principal.tenant].name;
    if (part_.is_whole()) whole_since_ = tenures.OfBoard(tenant, device.name, {});
    for (const uint8_t partition : partitions) since_[partition] = tenures.OfBoard(tenant, device.name, partition);
  }

  // From when on the series is shown; nullopt: not at all.
  std::optional<absl::Time> Since(const SensorChunkView& chunk, const SensorSeries& series) const {
    if (part_.is_whole()) return whole_since_ ? Within(*whole_since_, chunk) : absl::InfinitePast();
    const auto metric = series.family->partition_metric;
    if (!metric || !series.partition || !part_.Shows(*series.partition, *metric)) return std::nullopt;
    return Within(since_.at(*series.partition), chunk);
  }

 private:
  static std::optional<absl::Time> Within(const BoardTenure& tenure, const SensorChunkView& chunk) {
    if (chunk.newest <= tenure.place || chunk.last < tenure.time) return std::nullopt;
    return tenure.time;
  }

  const BoardPart part_;
  std::optional<BoardTenure> whole_since_;  // of a tenant's device
  std::map<uint8_t, BoardTenure> since_;
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
      const PastPart part(caller, *device.info, PartitionsOf(chunks), reader.tenures());
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

BoardPart VisiblePart(const Caller& caller, const DeviceInfo& device, const std::set<uint8_t>& partitions) {
  if (Reader::SeesBoard(caller, device)) return BoardPart::Whole();
  BoardPart part;
  for (const uint8_t partition : partitions) {
    for (const mailbox::MetricRow& row : mailbox::kMetrics) {
      const Resource metric = Resource::Partition(device.name, partition, row.word);
      if (caller.May(metric, Right::kRead)) part.Add(partition, row.metric);
    }
  }
  return part;
}

std::vector<VisibleBoard> VisibleBoards(const BoardStore& boards, const Tenures& tenures, const Caller& caller,
                                        const std::vector<VisibleDevice>& devices, absl::Duration steady_now) {
  std::vector<VisibleBoard> visible;
  for (const VisibleDevice& device : devices) {
    auto reading = boards.Newest(device.index);
    if (reading == nullptr || !StillAnswers(*reading, device.info->interval, steady_now)) continue;
    BoardPart part = VisiblePart(caller, *device.info, PartitionsOf(*reading));
    if (part.is_whole() && caller.principal.role == Principal::Role::kTenant) {
      const std::string& tenant = caller.policy.policy->tenants()[caller.principal.tenant].name;
      reading = MeasuredAfter(std::move(reading), tenures.OfBoard(tenant, device.info->name, {}).steady);
    }
    if (!part.is_nothing()) visible.push_back({device.info->name, std::move(reading), std::move(part)});
  }
  return visible;
}

void AddSensors(const VisibleBoard& board, const SensorNames& names, absl::Duration steady_now,
                sideband::v1::DeviceSensors& out) {
  AddAll<ValueSeries>(board, names, steady_now, out);
  std::set<std::string> shown;
  for (const sideband::v1::Sensor& sensor : out.sensors()) shown.insert(sensor.group());
  for (const GroupRow& row : kBoardGroups) {
    if (shown.contains(row.name)) AddGroup(*board.reading, row.group, steady_now, out);
  }
}

void AddDescriptions(const VisibleBoard& board, const SensorNames& names, absl::Duration steady_now,
                     sideband::v1::ListSensorsResponse::DeviceSensors& out) {
  AddAll<DescriptionSeries>(board, names, steady_now, out);
}

std::vector<VisibleBoard> SensorQueries::Visible(const Caller& caller,
                                                 const std::vector<VisibleDevice>& devices) const {
  return VisibleBoards(boards_, reader_.tenures(), caller, devices, reader_.clock().Steady());
}

absl::StatusOr<std::vector<VisibleBoard>> SensorQueries::Boards(const Caller& caller, const std::string& device) const {
  std::vector<VisibleDevice> devices = reader_.Devices(caller);
  // First: what a tenant may see of a board takes a decision for each metric of each partition.
  if (!device.empty()) std::erase_if(devices, [&](const VisibleDevice& known) { return known.info->name != device; });
  std::vector<VisibleBoard> boards = Visible(caller, devices);
  const bool is_silent = boards.empty() && !devices.empty() && Reader::SeesBoard(caller, *devices.front().info);
  if (device.empty() || !boards.empty() || is_silent) return boards;
  return NotFound();
}

absl::StatusOr<std::vector<VisibleBoard>> SensorQueries::WholeBoards(const Caller& caller,
                                                                     const std::string& device) const {
  std::vector<VisibleBoard> boards;
  bool is_there = device.empty();
  // The driver's messages name processes, maybe those of the tenant before.
  if (caller.May(Resource::Device(), Right::kRead)) {
    for (const VisibleDevice& known : reader_.Devices(caller)) {
      if (!device.empty() && known.info->name != device) continue;
      is_there = true;
      if (auto reading = boards_.Newest(known.index)) boards.push_back({known.info->name, std::move(reading)});
    }
  }
  if (!is_there) return NotFound();
  return boards;
}

absl::StatusOr<sideband::v1::ListSensorsResponse> SensorQueries::List(
    const Caller& caller, const sideband::v1::ListSensorsRequest& request) const {
  SIDEBAND_ASSIGN_OR_RETURN(const auto boards, Boards(caller, request.filter().device()));
  const SensorNames names = NamesOf(request.filter());
  sideband::v1::ListSensorsResponse response;
  for (const VisibleBoard& board : boards) {
    AddDescriptions(board, names, reader_.clock().Steady(), *response.add_devices());
  }
  return WithAllNames(std::move(response), names);
}

absl::StatusOr<sideband::v1::GetSensorsResponse> SensorQueries::Get(
    const Caller& caller, const sideband::v1::GetSensorsRequest& request) const {
  SIDEBAND_ASSIGN_OR_RETURN(const auto boards, Boards(caller, request.filter().device()));
  const SensorNames names = NamesOf(request.filter());
  sideband::v1::GetSensorsResponse response;
  for (const VisibleBoard& board : boards) {
    AddSensors(board, names, reader_.clock().Steady(), *response.add_devices());
  }
  return WithAllNames(std::move(response), names);
}

const std::vector<SensorColumnsBuilder::Track*>& SensorColumnsBuilder::TracksOf(const SensorLayout& layout) {
  const auto [at, is_new] = by_layout_.try_emplace(&layout);
  if (!is_new) return at->second;
  for (const SensorSeries& series : layout.series) {
    Track*& track = by_name_[NameOf(series)];
    if (track == nullptr) {
      track = tracks_.emplace_back(std::make_unique<Track>(Track{.series = &series, .group = layout.group})).get();
    }
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
  column.set_group(RowOf(track.group).name);
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
