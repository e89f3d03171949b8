// SPDX-License-Identifier: Apache-2.0
//
// The content of a stream in STREAM_MODE_ON_CHANGE: devices, scopes, limits and marks as they are, then what changes of
// them; and the events of boards.
//   ChangeStream changes(request, {.sensors = &sensors, .marks = &marks});
//   changes.BeginRound();
//   while (auto message = changes.NextOfRound(sight)) Send(*message);
#ifndef SIDEBAND_DAEMON_STREAM_CHANGE_STREAM_H_
#define SIDEBAND_DAEMON_STREAM_CHANGE_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/stream/stream_content.h"
#include "daemon/view/mark_queries.h"
#include "daemon/view/sensor_queries.h"
#include "daemon/view/state_items.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// The state as a stream's reader knows it, and the differences of the present state. The tracker holds the identity of
// each item and a number for its content.
//
// Not thread-safe.
class StateTracker {
 public:
  // The most items of one message; a device of thousands of contexts needs several.
  static constexpr int kItemsMax = 1000;

  // From now on Repeat() has every item once more.
  void BeginRound() { ++round_; }
  // The next differences between what was sent of the device and `present`, which are its items; none: there is none.
  // They are then sent.
  sideband::v1::StateChange Next(const std::string& device, const std::vector<sideband::v1::StateItem>& present);
  // The next unchanged items that were not sent in this round; none: there is none.
  sideband::v1::StateChange Repeat(const std::string& device, const std::vector<sideband::v1::StateItem>& present);
  // Takes the items as those that the reader has.
  void Adopt(const std::string& device, const std::vector<sideband::v1::StateItem>& present);
  // Takes nothing as sent.
  void Clear();

  // The digest of all that was sent, of all devices; equal for equal content, in one run of the daemon.
  uint64_t digest() const { return digest_; }

 private:
  struct Sent {
    uint64_t content = 0;
    uint64_t round = 0;  // in which it was sent last; 0: it was not
    uint64_t visit = 0;  // at which it existed last
  };
  // The serialized identity, and which of several items of this identity.
  using Key = std::pair<std::string, int>;
  using Items = std::map<Key, Sent>;

  Sent& SentOf(Items& items, const sideband::v1::StateItem& item, Key& key);
  void Set(const Key& key, uint64_t content, Sent& sent);
  void AddGone(Items& items, sideband::v1::StateChange& change);

  std::map<std::string, Items> devices_;
  uint64_t round_ = 1;
  uint64_t visit_ = 0;
  uint64_t digest_ = 0;
};

// Not thread-safe. The sources must outlive it.
class ChangeStream final : public StreamContent {
 public:
  struct Sources {
    const SensorQueries* sensors = nullptr;  // nullptr: no board is read
    const MarkQueries* marks = nullptr;      // nullptr: there are no marks
  };

  ChangeStream(const StreamRequest& request, const Sources& sources) : request_(request), sources_(sources) {}

  std::vector<Message> Resume(const StreamPosition& position, const StreamSight& sight) override;
  void BeginRound() override;
  std::optional<Message> NextOfRound(const StreamSight& sight) override;
  bool IsRoundDone(const StreamSight& sight) const override;
  std::optional<Message> NextNews(const StreamSight& sight) override;
  bool IsReplaying(const StreamSight& /*sight*/) const override { return false; }
  void AddPosition(const StreamSight& sight, StreamPosition& position) const override;

 private:
  // The objects that a device's items are made of. Equal inputs make equal items.
  struct Inputs {
    size_t device = 0;
    uint64_t policy_version = 0;
    uint64_t publication = 0;
    VisibleDevice::State state = VisibleDevice::State::kAway;
    std::shared_ptr<const DeviceInfo> info;  // held, so that an equal address implies an equal object; likewise below
    std::shared_ptr<const View> view;
    std::shared_ptr<const BoardReading> board;
    uint64_t mark_changes = 0;
    bool operator==(const Inputs&) const = default;
  };
  // The items that were sent of a device.
  struct Known {
    std::optional<Inputs> inputs;  // of items that were sent completely
    uint64_t round = 0;            // the last heartbeat that has it
  };
  using Boards = std::map<std::string, VisibleBoard>;  // by device

  // Boards have no VM, context or events.
  bool HasBoards() const { return sources_.sensors != nullptr && !request_.names_rows; }
  // The boards that still answer.
  Boards BoardsOf(const StreamSight& sight) const;
  // The boards of which the caller sees everything, whether or not they still answer.
  Boards WholeBoardsOf(const StreamSight& sight) const;
  std::vector<const VisibleDevice*> Selected(const StreamSight& sight) const;
  Inputs InputsOf(const VisibleDevice& device, const Boards& boards, const StreamSight& sight) const;
  std::vector<sideband::v1::StateItem> ItemsOf(const VisibleDevice& device, const Boards& boards,
                                               const StreamSight& sight) const;
  // The next message of a device that has changed, and of one that the caller no longer sees.
  std::optional<Message> NextChange(const StreamSight& sight);
  std::optional<Message> NextGone(const StreamSight& sight);
  // The next message that repeats what the reader has.
  std::optional<Message> NextRepeated(const StreamSight& sight);
  std::optional<Message> NextEvent(const StreamSight& sight);
  void ResumeBoards(const StreamPosition& position, const StreamSight& sight, std::vector<Message>& messages);

  const StreamRequest request_;
  const Sources sources_;
  StateTracker tracker_;
  uint64_t round_ = 0;
  bool is_round_done_ = false;
  std::map<std::string, Known> known_;               // by device
  std::map<std::string, BoardEventCursor> cursors_;  // of boards that are seen
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_STREAM_CHANGE_STREAM_H_
