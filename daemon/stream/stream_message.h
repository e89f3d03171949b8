// SPDX-License-Identifier: Apache-2.0
//
// A message of a stream, whose snapshot may be one that is serialised already.
//   StreamMessage message{.update = bodies.Get(device, filter)};
//   message.fields.set_skipped(3);
#ifndef SIDEBAND_DAEMON_STREAM_STREAM_MESSAGE_H_
#define SIDEBAND_DAEMON_STREAM_STREAM_MESSAGE_H_

#include <optional>

#include "daemon/view/snapshot_message.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// A SubscribeResponse.
struct StreamMessage {
  sideband::v1::SubscribeResponse fields;  // all of it, but `update` where that is shared
  std::optional<SharedSnapshot> update;    // the response's, shared by all readers of the view; `fields` then has none
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_STREAM_STREAM_MESSAGE_H_
