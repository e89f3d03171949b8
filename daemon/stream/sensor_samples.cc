// SPDX-License-Identifier: Apache-2.0
#include "daemon/stream/sensor_samples.h"

#include <algorithm>
#include <utility>

#include "daemon/board/board_reading.h"
#include "daemon/view/sensor_message.h"

namespace sideband::daemon {
namespace {

using sideband::v1::Gap;

// When its newest group was read; a board that is visible has one.
BoardTime NewestOf(const VisibleBoard& board) { return NewestSample(*board.reading).value_or(BoardTime()); }

uint64_t NumberOf(const BoardTime& sample) { return static_cast<uint64_t>(absl::ToInt64Nanoseconds(sample.steady)); }

}  // namespace

// The boards are those of the devices that the filter selects.
template <typename IsWanted>
std::optional<StreamContent::Message> SensorSamples::Next(const StreamSight& sight, IsWanted is_wanted) {
  if (queries_ == nullptr) return std::nullopt;
  const std::vector<VisibleBoard> boards = queries_->Visible(sight.caller, sight.devices);
  for (const VisibleDevice& device : sight.devices) {
    const auto board = std::ranges::find(boards, device.info->name, &VisibleBoard::device);
    if (!filter_.SelectsDevice(device) || board == boards.end()) continue;
    Sent& sent = SentOf(device);
    const BoardTime sample = NewestOf(*board);
    // Groups are read at different times: without a sample interval there is one message for each device interval.
    const bool is_due = sent.pacer.Wants(NumberOf(sample), sample.steady, device.info->interval / 2);
    if (!is_wanted(sent, is_due)) continue;
    sent.round = round_;
    Message message;
    message.fields.set_heartbeat(round_ > 1 && !is_due);
    if (is_due) {
      sent.pacer.Take(NumberOf(sample), sample.steady);
      sent.time = sample.wall;
    }
    AddSensors(*board, {}, sight.steady_now, *message.fields.mutable_sensors());
    if (message.fields.sensors().sensors_size() > 0) return message;
  }
  return std::nullopt;
}

std::optional<StreamContent::Message> SensorSamples::NextOfRound(const StreamSight& sight) {
  return Next(sight, [this](const Sent& sent, bool) { return sent.round != round_; });
}

std::optional<StreamContent::Message> SensorSamples::NextNews(const StreamSight& sight) {
  return Next(sight, [](const Sent&, bool is_due) { return is_due; });
}

SensorSamples::Sent& SensorSamples::SentOf(const VisibleDevice& device) {
  return sent_.try_emplace(device.info->name, std::max(sample_interval_, device.info->interval)).first->second;
}

void SensorSamples::Resume(const StreamPosition& position, const StreamSight& sight, std::vector<Message>& messages) {
  if (queries_ == nullptr) return;
  const std::vector<VisibleBoard> boards = queries_->Visible(sight.caller, sight.devices);
  for (const DevicePosition& at : position.devices) {
    const auto board = std::ranges::find(boards, at.name, &VisibleBoard::device);
    if (board == boards.end() && !at.sensors_steady) continue;
    const bool is_same = board != boards.end() && at.sensors_steady && NewestOf(*board).steady == *at.sensors_steady;
    if (is_same) {
      Remember(*board, sight);
      continue;
    }
    const absl::Time from = at.sensors_steady ? at.sensors_time : position.time;
    messages.push_back(GapMessage(at.name, Gap::REASON_NOT_KEPT, from, sight.now));
    messages.back().fields.mutable_gap()->set_sensors(true);
  }
}

void SensorSamples::Remember(const VisibleBoard& board, const StreamSight& sight) {
  for (const VisibleDevice& device : sight.devices) {
    if (device.info->name != board.device) continue;
    Sent& sent = SentOf(device);
    const BoardTime sample = NewestOf(board);
    sent.pacer.Take(NumberOf(sample), sample.steady);
    sent.time = sample.wall;
  }
}

void SensorSamples::AddPosition(DevicePosition& position) const {
  const auto sent = sent_.find(position.name);
  if (sent == sent_.end() || !sent->second.pacer.has_taken()) return;
  position.sensors_steady = absl::Nanoseconds(static_cast<int64_t>(sent->second.pacer.taken()));
  position.sensors_time = sent->second.time;
}

}  // namespace sideband::daemon
