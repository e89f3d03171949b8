// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/sensor_columns.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/message/time_message.h"
#include "daemon/view/sensor_message.h"

namespace sideband::daemon {
namespace {

// Equal for one sensor in two layouts.
std::string NameOf(const SensorSeries& series) {
  std::string name = series.family->name;
  // No label has the separators: boards' texts are printable.
  for (const auto& [label, value] : series.labels) absl::StrAppend(&name, "\n", label, "\t", value);
  return name;
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

}  // namespace sideband::daemon
