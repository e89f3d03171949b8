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
#include <vector>

#include "daemon/stream/state_tracker.h"
#include "daemon/stream/stream_content.h"
#include "daemon/stream/stream_request.h"
#include "daemon/view/board_event_cursor.h"
#include "daemon/view/mark_queries.h"
#include "daemon/view/sensor_queries.h"

namespace sideband::daemon {

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
  // What a device's items are made of. Equal inputs make equal items.
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
  // What was sent of a device.
  struct Known {
    std::optional<Inputs> inputs;  // of items that were sent completely
    uint64_t round = 0;            // the last heartbeat that has it
  };
  using Boards = std::map<std::string, VisibleBoard>;  // by device

  // Boards have no VM, context or events.
  bool HasBoards() const { return sources_.sensors != nullptr && !request_.names_rows; }
  // Those that still answer.
  Boards BoardsOf(const StreamSight& sight) const;
  // Those of which the caller sees everything, whether or not they still answer.
  Boards WholeBoardsOf(const StreamSight& sight) const;
  std::vector<const VisibleDevice*> Selected(const StreamSight& sight) const;
  Inputs InputsOf(const VisibleDevice& device, const Boards& boards, const StreamSight& sight) const;
  std::vector<sideband::v1::StateItem> ItemsOf(const VisibleDevice& device, const Boards& boards,
                                               const StreamSight& sight) const;
  // Of devices that have changed; of those that the caller no longer sees.
  std::optional<Message> NextChange(const StreamSight& sight);
  std::optional<Message> NextGone(const StreamSight& sight);
  // What the reader has, once more.
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
