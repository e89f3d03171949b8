// SPDX-License-Identifier: Apache-2.0
//
// One WatchBoardEvents stream: what the daemon holds, a sync_response, then what happens.
//   BoardEventSubscription subscription(sensors, credentials, request);
//   StreamStep<sideband::v1::WatchBoardEventsResponse> step = subscription.Next();
#ifndef SIDEBAND_DAEMON_GRPC_BOARD_EVENT_SUBSCRIPTION_H_
#define SIDEBAND_DAEMON_GRPC_BOARD_EVENT_SUBSCRIPTION_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/grpc/stream_step.h"
#include "daemon/identity/credentials.h"
#include "daemon/view/board_event_cursor.h"
#include "daemon/view/sensor_queries.h"
#include "sideband/v1/sensors.pb.h"

namespace sideband::daemon {

// Not thread-safe. The queries must outlive it.
class BoardEventSubscription {
 public:
  using Message = sideband::v1::WatchBoardEventsResponse;

  BoardEventSubscription(const SensorQueries& sensors, Credentials credentials,
                         const sideband::v1::WatchBoardEventsRequest& request)
      : sensors_(&sensors), credentials_(std::move(credentials)), device_(request.device()) {}

  // Evaluates the policy at each call. Ends with UNAUTHENTICATED for an unknown caller, NotFound() where the request
  // names a device of which the caller may not see everything.
  StreamStep<Message> Next();
  // Replaces Next() while the identity is at its limit of unread bytes.
  StreamStep<Message> Wait() const;

 private:
  std::optional<Message> NextEvent(const std::vector<VisibleBoard>& boards);

  const SensorQueries* sensors_;
  Credentials credentials_;
  std::string device_;
  bool is_synced_ = false;
  std::map<std::string, BoardEventCursor> cursors_;  // by device name, of devices that were seen at the last call
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_BOARD_EVENT_SUBSCRIPTION_H_
