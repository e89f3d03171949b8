// SPDX-License-Identifier: Apache-2.0
//
// A stream's message as its reader parses it, for tests.
//   const sideband::v1::SubscribeResponse response = Whole(message);
#ifndef SIDEBAND_DAEMON_STREAM_WHOLE_MESSAGE_H_
#define SIDEBAND_DAEMON_STREAM_WHOLE_MESSAGE_H_

#include "daemon/stream/stream_content.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

inline sideband::v1::SubscribeResponse Whole(const StreamMessage& message) {
  sideband::v1::SubscribeResponse whole = message.fields;
  if (message.update) whole.mutable_update()->ParseFromString(message.update->body->bytes + message.update->moment);
  return whole;
}

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_STREAM_WHOLE_MESSAGE_H_
