// SPDX-License-Identifier: Apache-2.0
#include "daemon/stream/change_stream.h"

#include <algorithm>
#include <utility>

#include "absl/hash/hash.h"
#include "daemon/view/state_items.h"

namespace sideband::daemon {
namespace {

using sideband::v1::StateChange;
using sideband::v1::StateItem;

// A sum over all items: their order does not matter.
uint64_t PartOf(const std::pair<std::string, int>& key, uint64_t content) {
  return absl::HashOf(key.first, key.second, content);
}

}  // namespace

// Returns the first item of the identity that was not visited yet.
StateTracker::Sent& StateTracker::SentOf(Items& items, const StateItem& item, Key& key) {
  key = {IdentityOf(item).SerializeAsString(), 0};
  for (;; ++key.second) {
    Sent& sent = items[key];
    if (sent.visit == visit_) continue;
    sent.visit = visit_;
    return sent;
  }
}

void StateTracker::Set(const Key& key, uint64_t content, Sent& sent) {
  if (sent.round != 0) digest_ -= PartOf(key, sent.content);
  digest_ += PartOf(key, content);
  sent.content = content;
  sent.round = round_;
}

StateChange StateTracker::Next(const std::string& device, const std::vector<StateItem>& present) {
  StateChange change;
  ++visit_;
  Items& items = devices_[device];
  for (const StateItem& item : present) {
    Key key;
    Sent& sent = SentOf(items, item, key);
    const uint64_t content = absl::HashOf(item.SerializeAsString());
    if (sent.round != 0 && sent.content == content) continue;
    Set(key, content, sent);
    *change.add_items() = item;
    // The rest was not visited: a later call finds what is gone.
    if (change.items_size() == kItemsMax) return change;
  }
  AddGone(items, change);
  if (items.empty()) devices_.erase(device);
  return change;
}

StateChange StateTracker::Repeat(const std::string& device, const std::vector<StateItem>& present) {
  StateChange change;
  ++visit_;
  Items& items = devices_[device];
  for (const StateItem& item : present) {
    Key key;
    Sent& sent = SentOf(items, item, key);
    if (sent.round == round_ || sent.round == 0 || sent.content != absl::HashOf(item.SerializeAsString())) continue;
    sent.round = round_;
    *change.add_items() = item;
    if (change.items_size() == kItemsMax) break;
  }
  return change;
}

void StateTracker::AddGone(Items& items, StateChange& change) {
  for (auto at = items.begin(); at != items.end() && change.items_size() < kItemsMax;) {
    if (at->second.visit == visit_) {
      ++at;
      continue;
    }
    if (at->second.round != 0) {
      digest_ -= PartOf(at->first, at->second.content);
      StateItem& gone = *change.add_items();
      gone.ParseFromString(at->first.first);
      gone.set_gone(true);
    }
    at = items.erase(at);
  }
}

void StateTracker::Adopt(const std::string& device, const std::vector<StateItem>& present) {
  ++visit_;
  Items& items = devices_[device];
  for (const StateItem& item : present) {
    Key key;
    Sent& sent = SentOf(items, item, key);
    Set(key, absl::HashOf(item.SerializeAsString()), sent);
  }
}

void StateTracker::Clear() {
  devices_.clear();
  digest_ = 0;
}

using sideband::v1::Gap;
using sideband::v1::MarkInfo;

namespace {

std::optional<StreamContent::Message> MessageOf(sideband::v1::StateChange change) {
  if (change.items_size() == 0) return std::nullopt;
  StreamContent::Message message;
  *message.fields.mutable_change() = std::move(change);
  return message;
}

}  // namespace

std::vector<const VisibleDevice*> ChangeStream::Selected(const StreamSight& sight) const {
  std::vector<const VisibleDevice*> selected;
  for (const VisibleDevice& device : sight.devices) {
    if (request_.filter.SelectsDevice(device)) selected.push_back(&device);
  }
  return selected;
}

ChangeStream::Boards ChangeStream::BoardsOf(const StreamSight& sight) const {
  Boards boards;
  if (!HasBoards()) return boards;
  for (VisibleBoard& board : sources_.sensors->Visible(sight.caller, sight.devices)) {
    const std::string device = board.device;
    boards.emplace(device, std::move(board));
  }
  return boards;
}

ChangeStream::Boards ChangeStream::WholeBoardsOf(const StreamSight& sight) const {
  Boards boards;
  if (!HasBoards()) return boards;
  auto whole = sources_.sensors->WholeBoards(sight.caller, "");
  if (!whole.ok()) return boards;
  for (VisibleBoard& board : *whole) {
    const std::string device = board.device;
    boards.emplace(device, std::move(board));
  }
  return boards;
}

ChangeStream::Inputs ChangeStream::InputsOf(const VisibleDevice& device, const Boards& boards,
                                            const StreamSight& sight) const {
  const auto board = boards.find(device.info->name);
  return {.device = device.index,
          .policy_version = sight.caller.policy.version,
          .publication = device.snapshot == nullptr ? 0 : device.snapshot->publication,
          .state = device.state,
          .info = device.info,
          .view = device.view,
          .board = board == boards.end() ? nullptr : board->second.reading,
          .mark_changes = sources_.marks == nullptr ? 0 : sources_.marks->changes()};
}

std::vector<StateItem> ChangeStream::ItemsOf(const VisibleDevice& device, const Boards& boards,
                                             const StreamSight& sight) const {
  std::vector<StateItem> items;
  AddDeviceItems(device, request_.filter, request_.names_rows, items);
  if (const auto board = boards.find(device.info->name); board != boards.end()) {
    AddLimitItems(board->second, sight.steady_now, items);
  }
  if (sources_.marks == nullptr) return items;
  std::vector<MarkInfo> marks;
  sources_.marks->AddMarks(sight.caller, device, request_.filter, marks);
  for (MarkInfo& mark : marks) *items.emplace_back().mutable_mark() = std::move(mark);
  return items;
}

void ChangeStream::BeginRound() {
  ++round_;
  is_round_done_ = false;
  tracker_.BeginRound();
}

std::optional<StreamContent::Message> ChangeStream::NextChange(const StreamSight& sight) {
  const Boards boards = BoardsOf(sight);
  for (const VisibleDevice* device : Selected(sight)) {
    Known& known = known_[device->info->name];
    Inputs inputs = InputsOf(*device, boards, sight);
    if (known.inputs == inputs) continue;
    if (auto message = MessageOf(tracker_.Next(device->info->name, ItemsOf(*device, boards, sight)))) return message;
    known.inputs = std::move(inputs);
  }
  return NextGone(sight);
}

std::optional<StreamContent::Message> ChangeStream::NextRepeated(const StreamSight& sight) {
  const Boards boards = BoardsOf(sight);
  for (const VisibleDevice* device : Selected(sight)) {
    Known& known = known_[device->info->name];
    if (known.round == round_) continue;
    if (auto message = MessageOf(tracker_.Repeat(device->info->name, ItemsOf(*device, boards, sight)))) {
      message->fields.set_heartbeat(true);
      return message;
    }
    known.round = round_;
  }
  return std::nullopt;
}

std::optional<StreamContent::Message> ChangeStream::NextGone(const StreamSight& sight) {
  const std::vector<const VisibleDevice*> selected = Selected(sight);
  for (auto at = known_.begin(); at != known_.end();) {
    const bool is_seen =
        std::ranges::any_of(selected, [&](const VisibleDevice* device) { return device->info->name == at->first; });
    if (is_seen) {
      ++at;
      continue;
    }
    if (auto message = MessageOf(tracker_.Next(at->first, {}))) return message;
    at = known_.erase(at);
  }
  return std::nullopt;
}

std::optional<StreamContent::Message> ChangeStream::NextEvent(const StreamSight& sight) {
  const Boards boards = WholeBoardsOf(sight);
  // Boards that are no longer seen have no events either.
  std::erase_if(cursors_, [&](const auto& cursor) { return !boards.contains(cursor.first); });
  for (const VisibleDevice* device : Selected(sight)) {
    const auto board = boards.find(device->info->name);
    if (board == boards.end()) continue;
    BoardEventCursor& cursor = cursors_.try_emplace(board->first, board->first).first->second;
    cursor.Follow(*board->second.reading);
    auto event = cursor.Next();
    if (!event) continue;
    Message message;
    *message.fields.mutable_change()->add_items()->mutable_board_event() = *std::move(event);
    return message;
  }
  return std::nullopt;
}

std::optional<StreamContent::Message> ChangeStream::NextOfRound(const StreamSight& sight) {
  if (auto message = NextChange(sight)) return message;
  // Only the first round has the boards' events that the daemon holds.
  if (auto message = round_ == 1 ? NextEvent(sight) : NextRepeated(sight)) return message;
  is_round_done_ = true;
  return std::nullopt;
}

bool ChangeStream::IsRoundDone(const StreamSight& /*sight*/) const { return is_round_done_; }

std::optional<StreamContent::Message> ChangeStream::NextNews(const StreamSight& sight) {
  if (auto message = NextChange(sight)) return message;
  return NextEvent(sight);
}

std::vector<StreamContent::Message> ChangeStream::Resume(const StreamPosition& position, const StreamSight& sight) {
  const Boards boards = BoardsOf(sight);
  for (const VisibleDevice* device : Selected(sight)) {
    tracker_.Adopt(device->info->name, ItemsOf(*device, boards, sight));
    known_[device->info->name].inputs = InputsOf(*device, boards, sight);
  }
  std::vector<Message> messages;
  if (tracker_.digest() == position.state) {
    messages.push_back(ResumedMessage(""));
  } else {
    tracker_.Clear();
    known_.clear();
    messages.push_back(GapMessage("", Gap::REASON_STATE_CHANGED, position.time, sight.now));
  }
  ResumeBoards(position, sight, messages);
  return messages;
}

void ChangeStream::ResumeBoards(const StreamPosition& position, const StreamSight& sight,
                                std::vector<Message>& messages) {
  const Boards boards = WholeBoardsOf(sight);
  for (const BoardPosition& at : position.boards) {
    const auto board = boards.find(at.name);
    if (board == boards.end()) continue;
    BoardEventCursor cursor(at.name);
    const bool is_held = cursor.Resume({.messages = at.messages, .reader_id = at.reader_id, .raised = at.raised},
                                       *board->second.reading);
    if (!is_held) messages.push_back(GapMessage(at.name, Gap::REASON_NOT_KEPT, position.time, sight.now));
    cursors_.insert_or_assign(at.name, std::move(cursor));
  }
}

void ChangeStream::AddPosition(const StreamSight& /*sight*/, StreamPosition& position) const {
  position.state = tracker_.digest();
  for (const auto& [device, cursor] : cursors_) {
    BoardEventCursor::Position at = cursor.position();
    position.boards.push_back(
        {.name = device, .messages = at.messages, .reader_id = at.reader_id, .raised = std::move(at.raised)});
  }
}

}  // namespace sideband::daemon
