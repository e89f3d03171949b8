// SPDX-License-Identifier: Apache-2.0
//
// A message of a Subscribe stream, whose update shares the bytes of its view.
//   UpdateMessage message{.update = bodies.Get(device, filter)};
//   message.fields.set_skipped(3);
#ifndef SIDEBAND_DAEMON_VIEW_UPDATE_MESSAGE_H_
#define SIDEBAND_DAEMON_VIEW_UPDATE_MESSAGE_H_

#include <optional>

#include "daemon/view/snapshot_bodies.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// A SubscribeResponse. An update that is made for one stream alone may be in `fields` instead.
struct UpdateMessage {
  sideband::v1::SubscribeResponse fields;  // all of it but `update`; where that is set, no other response
  std::optional<SharedSnapshot> update;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_UPDATE_MESSAGE_H_
