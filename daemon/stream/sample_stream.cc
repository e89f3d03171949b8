// SPDX-License-Identifier: Apache-2.0
#include "daemon/stream/sample_stream.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "daemon/view/snapshot_message.h"

namespace sideband::daemon {

using sideband::v1::Gap;

namespace {

bool Has(const StreamPosition& position, const VisibleDevice& device) {
  return std::ranges::any_of(position.devices, [&](const DevicePosition& at) { return at.device == device.index; });
}

}  // namespace

void SampleStream::Cursor::Restart(absl::Duration sample_interval) {
  pacer = SamplePacer(sample_interval);
  boot_id = 0;
  host_time = absl::InfinitePast();
  rows.clear();
  replay.reset();
  round = 0;
}

SampleStream::Cursor& SampleStream::CursorOf(const VisibleDevice& device) {
  return cursors_.try_emplace(device.index, request_.sample_interval).first->second;
}

const SampleStream::Cursor* SampleStream::FindCursor(const VisibleDevice& device) const {
  const auto found = cursors_.find(device.index);
  return found == cursors_.end() ? nullptr : &found->second;
}

Replay SampleStream::ReplayAfter(size_t device, uint64_t publication) const {
  if (sources_.history == nullptr) return Replay(sources_.reader, nullptr, device, publication);
  return sources_.history->ReplayAfter(device, publication);
}

std::vector<StreamContent::Message> SampleStream::Resume(const StreamPosition& position, const StreamSight& sight) {
  std::vector<Message> messages;
  for (const DevicePosition& at : position.devices) messages.push_back(ResumeDevice(at, sight));
  for (const VisibleDevice& device : sight.devices) {
    if (!Shows(device) || Has(position, device)) continue;
    messages.push_back(GapMessage(device.info->name, Gap::REASON_APPEARED, position.time, sight.now));
  }
  for (const std::string& device : SeenMeanwhile(position, sight)) {
    messages.push_back(GapMessage(device, Gap::REASON_GONE, position.time, sight.now));
  }
  sensors_.Resume(position, sight, messages);
  if (messages.empty()) messages.push_back(ResumedMessage(""));
  return messages;
}

// Devices that have come and gone: neither the token nor the sight has them.
std::vector<std::string> SampleStream::SeenMeanwhile(const StreamPosition& position, const StreamSight& sight) const {
  if (sources_.history == nullptr) return {};
  std::set<size_t> known;
  for (const DevicePosition& at : position.devices) known.insert(at.device);
  for (const VisibleDevice& device : sight.devices) known.insert(device.index);
  return sources_.history->SeenSince(sight.caller, position.time, request_.filter, known);
}

StreamContent::Message SampleStream::ResumeDevice(const DevicePosition& position, const StreamSight& sight) {
  const auto gap = [&](Gap::Reason reason) { return GapMessage(position.name, reason, position.host_time, sight.now); };
  const auto found = std::ranges::find(sight.devices, size_t{position.device}, &VisibleDevice::index);
  if (found == sight.devices.end()) {
    // Another device may have the name by now, of which there is no such history.
    const bool is_named = std::ranges::any_of(
        sight.devices, [&](const VisibleDevice& device) { return device.info->name == position.name; });
    return gap(is_named ? Gap::REASON_NOT_KEPT : Gap::REASON_GONE);
  }
  const uint64_t newest = found->snapshot == nullptr ? 0 : found->snapshot->publication;
  if (newest != 0 && position.boot_id != 0 && position.boot_id != found->snapshot->data.boot_id) {
    return gap(Gap::REASON_REBOOTED);
  }
  Cursor& cursor = CursorOf(*found);
  if (!Restore(*found, position, sight.caller, cursor) || !cursor.replay->CanGoOn(newest)) {
    cursor.Restart(request_.sample_interval);
    return gap(Gap::REASON_NOT_KEPT);
  }
  cursor.replay_to = newest;
  return ResumedMessage(position.name);
}

bool SampleStream::Restore(const VisibleDevice& device, const DevicePosition& position, const Caller& caller,
                           Cursor& cursor) {
  cursor.replay.emplace(ReplayAfter(device.index, position.after));
  cursor.host_time = position.host_time;
  if (!position.due) return true;
  cursor.pacer = SamplePacer(request_.sample_interval, position.after, *position.due);
  cursor.boot_id = position.boot_id;
  if (!request_.suppress_redundant) return true;
  // What has changed is decided by the last update, whose counts are in the history or are the newest.
  if (device.snapshot != nullptr && device.snapshot->publication == position.after) {
    cursor.rows = DigestsOf(UpdateOf(device));
    return true;
  }
  cursor.replay.emplace(ReplayAfter(device.index, position.after - 1));
  if (cursor.replay->Next(-absl::InfiniteDuration(), position.after + 1) != Replay::Outcome::kFound) return false;
  cursor.rows = DigestsOf(cursor.replay->Message(device, caller, request_.filter));
  return true;
}

void SampleStream::BeginRound() {
  ++round_;
  sensors_.BeginRound();
}

template <typename Next>
std::optional<StreamContent::Message> SampleStream::InTurn(const StreamSight& sight, Next next) {
  for (size_t i = 0; i < sight.devices.size(); ++i) {
    const size_t at = (turn_ + i) % sight.devices.size();
    if (!Shows(sight.devices[at])) continue;
    auto message = next(sight.devices[at]);
    if (!message) continue;
    turn_ = at + 1;
    return message;
  }
  return std::nullopt;
}

std::optional<StreamContent::Message> SampleStream::NextOfRound(const StreamSight& sight) {
  auto message = InTurn(sight, [&](const VisibleDevice& device) { return OfRound(device, sight); });
  if (message) return message;
  return sensors_.NextOfRound(sight);
}

bool SampleStream::IsRoundDone(const StreamSight& sight) const {
  return std::ranges::all_of(sight.devices, [&](const VisibleDevice& device) {
    if (!Shows(device)) return true;
    const Cursor* const cursor = FindCursor(device);
    return cursor != nullptr && cursor->round == round_;
  });
}

std::optional<StreamContent::Message> SampleStream::NextNews(const StreamSight& sight) {
  // A reader that is slow gets sensors, too.
  is_sensors_turn_ = !is_sensors_turn_;
  if (is_sensors_turn_) {
    if (auto message = sensors_.NextNews(sight)) return message;
  }
  auto message = InTurn(sight, [&](const VisibleDevice& device) -> std::optional<Message> {
    Cursor& cursor = CursorOf(device);
    if (cursor.replay) {
      auto replayed = Replayed(device, cursor, sight);
      if (replayed || cursor.replay) return replayed;
    }
    return Newest(device, cursor, /*whole=*/false);
  });
  if (message || is_sensors_turn_) return message;
  return sensors_.NextNews(sight);
}

bool SampleStream::IsReplaying() const {
  return std::ranges::any_of(cursors_, [](const auto& cursor) { return cursor.second.replay.has_value(); });
}

std::optional<StreamContent::Message> SampleStream::OfRound(const VisibleDevice& device, const StreamSight& sight) {
  Cursor& cursor = CursorOf(device);
  if (cursor.round == round_) return std::nullopt;
  if (cursor.replay) {
    auto message = Replayed(device, cursor, sight);
    // What is published meanwhile is news.
    if (cursor.replay && cursor.replay->passed() >= cursor.replay_to) cursor.round = round_;
    if (message || cursor.replay) return message;
  }
  cursor.round = round_;
  return Newest(device, cursor, /*whole=*/round_ > 1);
}

std::optional<StreamContent::Message> SampleStream::Replayed(const VisibleDevice& device, Cursor& cursor,
                                                             const StreamSight& sight) {
  Replay& replay = *cursor.replay;
  for (size_t work = 0; work < kValuesPerStep; work += replay.values() + 1) {
    switch (replay.Next(cursor.pacer.Earliest(device.info->interval), device.snapshot->publication)) {
      case Replay::Outcome::kNothing:
        cursor.replay.reset();
        return std::nullopt;
      case Replay::Outcome::kLost: {
        const absl::Time from = cursor.host_time;
        cursor.Restart(request_.sample_interval);
        return GapMessage(device.info->name, Gap::REASON_NOT_KEPT, from, sight.now);
      }
      case Replay::Outcome::kFound:
        break;
    }
    // While the caller did not see the device, nothing of it was taken.
    if (!replay.IsVisible(device, sight.caller)) continue;
    Message message;
    message.fields.set_replayed(true);
    *message.fields.mutable_update() = replay.Message(device, sight.caller, request_.filter);
    message.fields.set_skipped(cursor.pacer.Take(replay.header().publication, replay.header().steady_time()));
    cursor.boot_id = replay.boot_id();
    cursor.host_time = replay.header().host_time();
    if (Reduce(/*whole=*/false, /*is_taken=*/true, cursor, *message.fields.mutable_update())) return message;
  }
  return std::nullopt;
}

sideband::v1::Snapshot SampleStream::UpdateOf(const VisibleDevice& device) const {
  return SnapshotMessage(device, request_.filter);
}

std::optional<StreamContent::Message> SampleStream::Newest(const VisibleDevice& device, Cursor& cursor, bool whole) {
  const DeviceSnapshot& snapshot = *device.snapshot;
  const bool is_due = cursor.pacer.Wants(snapshot, device.info->interval);
  if (!is_due && !whole) return std::nullopt;
  Message message;
  if (request_.suppress_redundant) {
    *message.fields.mutable_update() = UpdateOf(device);
  } else {
    message.update = sources_.bodies.Get(device, request_.filter);
  }
  if (is_due) {
    message.fields.set_skipped(cursor.pacer.Take(snapshot));
    cursor.boot_id = snapshot.data.boot_id;
    cursor.host_time = snapshot.host_time;
  }
  const bool is_empty = message.update ? !message.update->body->has_rows
                                       : !Reduce(whole, is_due, cursor, *message.fields.mutable_update());
  if (is_empty) return std::nullopt;
  return message;
}

bool SampleStream::Reduce(bool whole, bool is_taken, Cursor& cursor, sideband::v1::Snapshot& update) const {
  if (request_.suppress_redundant) {
    RowDigests now = DigestsOf(update);
    if (!whole) RemoveUnchanged(cursor.rows, now, update);
    // Of an update that the pacer has not taken a resumption knows nothing.
    if (is_taken) cursor.rows = std::move(now);
  }
  return update.scopes_size() > 0;
}

void SampleStream::AddPosition(const StreamSight& sight, StreamPosition& position) const {
  for (const VisibleDevice& device : sight.devices) {
    if (!request_.filter.SelectsDevice(device)) continue;
    DevicePosition at{.device = static_cast<uint32_t>(device.index), .name = device.info->name, .host_time = sight.now};
    const Cursor* const cursor = FindCursor(device);
    if (cursor != nullptr && cursor->pacer.has_taken()) {
      at.boot_id = cursor->boot_id;
      at.after = cursor->pacer.taken();
      at.due = cursor->pacer.due();
      at.host_time = cursor->host_time;
    } else if (cursor != nullptr && cursor->replay) {
      at.after = cursor->replay->passed();
      at.host_time = cursor->host_time;
    } else if (device.snapshot != nullptr) {
      // It begins with the newest one.
      at.after = device.snapshot->publication - 1;
      at.host_time = device.snapshot->host_time - absl::Milliseconds(1);
    }
    sensors_.AddPosition(at);
    position.devices.push_back(std::move(at));
  }
}

}  // namespace sideband::daemon
