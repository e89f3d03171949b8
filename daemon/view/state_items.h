// SPDX-License-Identifier: Apache-2.0
//
// The items of STREAM_MODE_ON_CHANGE as one caller sees them, which are state and no measurements, and the events of a
// board since a cursor was last asked, as messages of Sensors.WatchBoardEvents.
//   BoardEventCursor cursor("gpu0");
//   cursor.Follow(*boards.Newest(device));
//   while (const auto event = cursor.Next()) Send(*event);
#ifndef SIDEBAND_DAEMON_VIEW_STATE_ITEMS_H_
#define SIDEBAND_DAEMON_VIEW_STATE_ITEMS_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "daemon/board/board_reading.h"
#include "daemon/view/reader.h"
#include "daemon/view/row_filter.h"
#include "daemon/view/sensor_queries.h"
#include "proto/mailbox/board_items.h"
#include "sideband/v1/sensors.pb.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// The device, and its scopes that the filter selects. `names_rows`: the filter has a VM, a context or events; a device
// without a selected scope then has no item, and nor have confidential VMs, of which no row can be selected.
void AddDeviceItems(const VisibleDevice& device, const RowFilter& filter, bool names_rows,
                    std::vector<sideband::v1::StateItem>& out);

// The board's sensors that are limits: thresholds of temperatures, limits of power, ranges of clocks.
void AddLimitItems(const VisibleBoard& board, absl::Duration steady_now, std::vector<sideband::v1::StateItem>& out);

// The fields that identify the item: its other fields may change. A board's event has no identity.
sideband::v1::StateItem IdentityOf(const sideband::v1::StateItem& item);

// Not thread-safe. It holds at most as much as a reading: what a slow caller has not taken is dropped for newer
// messages, and counted as lost.
class BoardEventCursor {
 public:
  using Message = sideband::v1::WatchBoardEventsResponse;

  explicit BoardEventCursor(std::string device) : device_(std::move(device)) {}

  // The place up to which a caller has taken events.
  struct Position {
    uint64_t messages = 0;         // of the driver's newest message that was taken
    uint64_t reader_id = 0;        // another one counts from 0 again
    std::vector<uint64_t> raised;  // by mailbox::BoardEvent, as often as was taken
  };
  Position position() const;
  // Goes on at the position, before anything is followed. False where some of what has happened since is not held any
  // more: the cursor then begins as a new one.
  bool Resume(const Position& position, const BoardReading& reading);

  // The first time, only the driver's messages that the reading holds are new. A reading whose messages are fewer than
  // those of the last one is of a new reader, and all of them are new.
  void Follow(const BoardReading& reading);
  // The oldest one that was not taken: of the driver's messages first, in their order.
  std::optional<Message> Next();

 private:
  void FollowMessages(const DriverMessageReading& messages);
  void FollowRaised(const EventReading& events);

  std::string device_;
  bool is_first_ = true;
  uint64_t position_ = 0;  // of the newest message that was seen
  uint64_t lost_ = 0;
  uint64_t reader_id_ = 0;
  std::deque<mailbox::DriverEvent> messages_;
  std::map<mailbox::BoardEvent, RunningCount> seen_;
  std::map<mailbox::BoardEvent, uint64_t> raised_;  // not taken
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_STATE_ITEMS_H_
