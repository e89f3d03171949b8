// SPDX-License-Identifier: Apache-2.0
#include "daemon/stream/sample_stream.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "daemon/board/board_reading.h"
#include "daemon/view/sensor_queries.h"
#include "daemon/view/snapshot_message.h"

namespace sideband::daemon {
namespace {

using sideband::v1::Gap;

}  // namespace

absl::Duration SamplePacer::Earliest(absl::Duration device_interval) const {
  // The first snapshot starts the grid; an interval no longer than the device's selects every snapshot.
  if (taken_ == 0 || sample_interval_ <= device_interval) return -absl::InfiniteDuration();
  // The publication nearest to `due_` is at most half a device interval early.
  return due_ - device_interval / 2;
}

bool SamplePacer::Wants(uint64_t publication, absl::Duration steady_time, absl::Duration device_interval) const {
  return publication > taken_ && steady_time >= Earliest(device_interval);
}

uint64_t SamplePacer::Take(uint64_t publication, absl::Duration steady_time) {
  due_ = taken_ == 0 ? steady_time + sample_interval_ : due_ + sample_interval_;
  // After a pause the grid restarts: missed samples are not caught up.
  if (due_ <= steady_time) due_ = steady_time + sample_interval_;
  const uint64_t before = std::exchange(taken_, publication);
  return before == 0 ? 0 : publication - before - 1;
}

namespace {

RowDigest DigestOf(uint64_t boot_id, const sideband::v1::ScopeCounters& row) {
  const sideband::v1::Scope& scope = row.scope();
  const uint64_t slice = scope.has_slice() ? uint64_t{scope.slice()} + 1 : 0;
  uint64_t content = absl::HashOf(boot_id, static_cast<int>(row.state()), row.flags_size(), row.counters_size());
  for (const std::string& flag : row.flags()) content = absl::HashOf(content, flag);
  for (const sideband::v1::Counter& counter : row.counters()) {
    content = absl::HashOf(content, counter.event(), counter.count());
  }
  return {.scope = absl::HashOf(slice, scope.vm(), scope.vm_uuid(), scope.context(), scope.generation(), scope.host()),
          .content = content};
}

// When its newest group was read; a board that is visible has one.
BoardTime NewestOf(const VisibleBoard& board) { return NewestSample(*board.reading).value_or(BoardTime()); }

uint64_t NumberOf(const BoardTime& sample) { return static_cast<uint64_t>(absl::ToInt64Nanoseconds(sample.steady)); }

}  // namespace

RowDigests DigestsOf(const sideband::v1::Snapshot& update) {
  RowDigests digests;
  digests.reserve(static_cast<size_t>(update.scopes_size()));
  for (const auto& row : update.scopes()) digests.push_back(DigestOf(update.boot_id(), row));
  return digests;
}

void RemoveUnchanged(const RowDigests& before, const RowDigests& now, sideband::v1::Snapshot& update) {
  absl::flat_hash_map<uint64_t, uint64_t> contents;
  contents.reserve(before.size());
  for (const RowDigest& row : before) contents.emplace(row.scope, row.content);
  int kept = 0;
  for (int i = 0; i < update.scopes_size(); ++i) {
    const RowDigest& row = now[static_cast<size_t>(i)];
    const auto known = contents.find(row.scope);
    if (known != contents.end() && known->second == row.content) continue;
    if (kept != i) update.mutable_scopes()->SwapElements(kept, i);
    ++kept;
  }
  update.mutable_scopes()->DeleteSubrange(kept, update.scopes_size() - kept);
}

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
  had = 0;
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
  Restore(*found, position, cursor);
  if (!cursor.replay->CanGoOn(newest)) {
    cursor.Restart(request_.sample_interval);
    return gap(Gap::REASON_NOT_KEPT);
  }
  return ResumedMessage(position.name);
}

void SampleStream::Restore(const VisibleDevice& device, const DevicePosition& position, Cursor& cursor) {
  cursor.replay.emplace(ReplayAfter(device.index, position.after));
  cursor.name = position.name;
  cursor.host_time = position.host_time;
  if (!position.due) return;
  cursor.pacer = SamplePacer(request_.sample_interval, position.after, *position.due);
  cursor.boot_id = position.boot_id;
  if (!request_.suppress_redundant) return;
  // Changes are found by the last update, whose counts are the newest or in the history.
  if (device.snapshot != nullptr && device.snapshot->publication == position.after) {
    cursor.rows = DigestsOf(UpdateOf(device));
    return;
  }
  cursor.replay.emplace(ReplayAfter(device.index, position.after - 1));
  cursor.had = position.after;
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
  if (auto gap = GapOfUnseen(sight)) return gap;
  if (round_ > 1) {
    if (auto message = InTurn(sight, [&](const VisibleDevice& device) { return Heartbeat(device); })) return message;
  } else if (!IsRoundDone(sight)) {
    // Devices that wait for the replay of another one have news meanwhile.
    if (auto message = NextNews(sight)) return message;
  }
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
  if (auto gap = GapOfUnseen(sight)) return gap;
  // A reader that is slow gets sensors, too.
  is_sensors_turn_ = !is_sensors_turn_;
  if (is_sensors_turn_) {
    if (auto message = sensors_.NextNews(sight)) return message;
  }
  auto message = NextOfDevices(sight);
  if (message || is_sensors_turn_) return message;
  return sensors_.NextNews(sight);
}

std::optional<StreamContent::Message> SampleStream::NextOfDevices(const StreamSight& sight) {
  DecodeBudget budget(kValuesPerStep);
  for (;;) {
    auto message = InTurn(sight, [&](const VisibleDevice& device) { return NewsOf(device, budget, sight); });
    // A replay that has ended makes way for that of a device which was asked before.
    if (message || replaying_ || !IsReplaying(sight)) return message;
  }
}

bool SampleStream::IsReplaying(const StreamSight& sight) const {
  return std::ranges::any_of(sight.devices, [&](const VisibleDevice& device) {
    const Cursor* const cursor = FindCursor(device);
    return Shows(device) && cursor != nullptr && cursor->replay.has_value();
  });
}

std::optional<StreamContent::Message> SampleStream::GapOfUnseen(const StreamSight& sight) {
  for (auto& [id, cursor] : cursors_) {
    if (!cursor.replay || std::ranges::find(sight.devices, id, &VisibleDevice::index) != sight.devices.end()) continue;
    const absl::Time from = cursor.host_time;
    if (replaying_ && replaying_->device == id) replaying_.reset();
    cursor.Restart(request_.sample_interval);
    return GapMessage(cursor.name, Gap::REASON_GONE, from, sight.now);
  }
  return std::nullopt;
}

std::optional<StreamContent::Message> SampleStream::NewsOf(const VisibleDevice& device, DecodeBudget& budget,
                                                           const StreamSight& sight) {
  Cursor& cursor = CursorOf(device);
  if (cursor.replay) {
    auto message = Replayed(device, cursor, budget, sight);
    if (message || cursor.replay) return message;
  }
  if (round_ == 1) cursor.round = round_;
  return Newest(device);
}

bool SampleStream::IsInLeg(const VisibleDevice& device, const Replay& replay) {
  const uint64_t newest = device.snapshot->publication;
  if (replay.passed() >= newest) return false;
  if (replay.passed() < replaying_->leg_end) return true;
  const uint64_t leg = newest - replay.passed();
  if (leg >= replaying_->leg) return false;
  *replaying_ = {.device = device.index, .leg_end = newest, .leg = leg};
  return true;
}

void SampleStream::EndReplay(Cursor& cursor) {
  cursor.replay.reset();
  replaying_.reset();
}

std::optional<StreamContent::Message> SampleStream::Replayed(const VisibleDevice& device, Cursor& cursor,
                                                             DecodeBudget& budget, const StreamSight& sight) {
  const uint64_t newest = device.snapshot->publication;
  if (replaying_ && replaying_->device != device.index) {
    // One that has missed nothing does not wait.
    if (cursor.replay->passed() + 1 >= newest && cursor.had <= cursor.replay->passed()) cursor.replay.reset();
    return std::nullopt;
  }
  if (!replaying_) replaying_ = {.device = device.index, .leg_end = newest, .leg = UINT64_MAX};
  Replay& replay = *cursor.replay;
  while (IsInLeg(device, replay)) {
    const bool is_known = replay.passed() < cursor.had;
    const absl::Duration earliest = is_known ? -absl::InfiniteDuration() : cursor.pacer.Earliest(device.info->interval);
    switch (replay.Next(earliest, newest, &budget)) {
      case Replay::Outcome::kNothing:
        EndReplay(cursor);
        return std::nullopt;
      case Replay::Outcome::kUnfinished:
        return std::nullopt;
      case Replay::Outcome::kLost:
        return GiveUpReplay(device, cursor, Gap::REASON_NOT_KEPT, sight);
      case Replay::Outcome::kFound:
        break;
    }
    if (is_known) {
      cursor.rows = DigestsOf(replay.MessageAsNewest(device, sight.caller, request_.filter));
      continue;
    }
    // A policy has given the caller a VM: what was latched before is the newest for a stream that is open then, but it
    // is not the caller's in the history.
    if (replay.HasLaterVm(sight.caller)) return GiveUpReplay(device, cursor, Gap::REASON_APPEARED, sight);
    // While the caller did not see the device, nothing of it was taken.
    if (!replay.IsVisible(device, sight.caller)) continue;
    if (auto message = ReplayedMessage(device, cursor, sight.caller)) return message;
  }
  EndReplay(cursor);
  return std::nullopt;
}

StreamContent::Message SampleStream::GiveUpReplay(const VisibleDevice& device, Cursor& cursor, Gap::Reason reason,
                                                  const StreamSight& sight) {
  const absl::Time from = cursor.host_time;
  EndReplay(cursor);
  cursor.Restart(request_.sample_interval);
  return GapMessage(device.info->name, reason, from, sight.now);
}

std::optional<StreamContent::Message> SampleStream::ReplayedMessage(const VisibleDevice& device, Cursor& cursor,
                                                                    const Caller& caller) {
  Replay& replay = *cursor.replay;
  Message message;
  message.fields.set_replayed(true);
  *message.fields.mutable_update() = replay.Message(device, caller, request_.filter);
  message.fields.set_skipped(cursor.pacer.Take(replay.header().publication, replay.header().steady_time()));
  cursor.boot_id = replay.boot_id();
  cursor.host_time = replay.header().host_time();
  if (!Reduce(cursor, *message.fields.mutable_update())) return std::nullopt;
  return message;
}

sideband::v1::Snapshot SampleStream::UpdateOf(const VisibleDevice& device) const {
  return SnapshotMessage(device, request_.filter);
}

std::optional<StreamContent::Message> SampleStream::Newest(const VisibleDevice& device) {
  Cursor& cursor = CursorOf(device);
  const DeviceSnapshot& snapshot = *device.snapshot;
  if (!cursor.pacer.Wants(snapshot, device.info->interval)) return std::nullopt;
  Message message;
  message.fields.set_skipped(cursor.pacer.Take(snapshot));
  cursor.boot_id = snapshot.data.boot_id;
  cursor.host_time = snapshot.host_time;
  if (!request_.suppress_redundant) {
    message.update = sources_.bodies.Get(device, request_.filter);
    if (message.update->body->has_rows) return message;
    return std::nullopt;
  }
  *message.fields.mutable_update() = UpdateOf(device);
  if (!Reduce(cursor, *message.fields.mutable_update())) return std::nullopt;
  return message;
}

std::optional<StreamContent::Message> SampleStream::Heartbeat(const VisibleDevice& device) {
  Cursor& cursor = CursorOf(device);
  if (cursor.round == round_) return std::nullopt;
  // The replay of a device that had no snapshot comes first.
  if (cursor.replay) {
    cursor.round = round_;
    return std::nullopt;
  }
  // Once, lest a slow reader has nothing but news.
  if (std::exchange(cursor.news_round, round_) != round_) {
    if (auto news = Newest(device)) {
      if (!request_.suppress_redundant) cursor.round = round_;
      return news;
    }
  }
  cursor.round = round_;
  Message message;
  message.fields.set_heartbeat(true);
  message.update = sources_.bodies.Get(device, request_.filter);
  if (!message.update->body->has_rows) return std::nullopt;
  return message;
}

bool SampleStream::Reduce(Cursor& cursor, sideband::v1::Snapshot& update) const {
  if (request_.suppress_redundant) {
    RowDigests now = DigestsOf(update);
    RemoveUnchanged(cursor.rows, now, update);
    cursor.rows = std::move(now);
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
