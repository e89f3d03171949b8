// SPDX-License-Identifier: Apache-2.0
//
// One Subscribe stream: the present state, a sync_response, then what is new; heartbeats; and where the request has a
// resume token, first what it says of the resumption. It holds no queue of updates: the next one is made when the last
// one was taken.
//   SIDEBAND_ASSIGN_OR_RETURN(Subscription subscription, Subscription::Create(sources, credentials, request));
//   StreamStep<StreamMessage> step = subscription.Next();
#ifndef SIDEBAND_DAEMON_GRPC_SUBSCRIPTION_H_
#define SIDEBAND_DAEMON_GRPC_SUBSCRIPTION_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/grpc/stream_step.h"
#include "daemon/stream/heartbeat.h"
#include "daemon/stream/resume_token.h"
#include "daemon/stream/stream_content.h"
#include "daemon/stream/stream_message.h"
#include "daemon/stream/stream_request.h"
#include "daemon/view/history_reader.h"
#include "daemon/view/mark_queries.h"
#include "daemon/view/reader.h"
#include "daemon/view/sensor_queries.h"
#include "daemon/view/snapshot_bodies.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// What streams are made of. All referents must outlive them.
struct StreamSources {
  Reader& reader;
  const ResumeTokens& tokens;
  SnapshotBodies& bodies;
  const HistoryReader* history = nullptr;  // nullptr: no history is kept
  const SensorQueries* sensors = nullptr;  // nullptr: no board is read
  const MarkQueries* marks = nullptr;      // nullptr: there are no marks
};

// Not thread-safe.
class Subscription {
 public:
  using Message = StreamMessage;

  // INVALID_ARGUMENT naming the field (StreamRequest::Parse). Next() checks the permissions.
  static absl::StatusOr<Subscription> Create(const StreamSources& sources, Credentials credentials,
                                             const sideband::v1::SubscribeRequest& request);

  // Evaluates the policy at each call, so that a change of policy or topology narrows or ends the stream at once. Ends
  // with OK after MODE_ONCE, UNAUTHENTICATED for an unknown caller, NotFound() where the filter names something absent
  // or denied.
  StreamStep<Message> Next();
  // Replaces Next() while the identity is at its limit of unread bytes: waits, or ends with UNAUTHENTICATED where the
  // policy no longer lists the caller.
  StreamStep<Message> Wait() const;
  // For how long the reader may leave a message untaken.
  absl::Duration reader_patience() const { return heartbeat_.patience(); }

 private:
  Subscription(const StreamSources& sources, Credentials credentials, sideband::v1::SubscribeRequest request,
               const StreamRequest& parsed);

  absl::Status CheckFilter(const std::vector<VisibleDevice>& devices);
  // At the first step: opens the request's token.
  absl::Status Begin(const StreamSight& sight);
  void Resume(const sideband::v1::SubscribeRequest& request, const StreamSight& sight);
  std::optional<Message> NextMessage(const StreamSight& sight);
  std::optional<Message> NextOfRound(const StreamSight& sight);
  std::optional<Message> NextReplayed(const StreamSight& sight);
  // Adds what every message has.
  absl::Status Stamp(const StreamSight& sight, Message& message);

  StreamSources sources_;
  Credentials credentials_;
  std::optional<sideband::v1::SubscribeRequest> request_;  // until Begin()
  RowFilter filter_;
  bool once_;
  Heartbeat heartbeat_;
  std::unique_ptr<StreamContent> content_;
  // The views of the last filter check. Held, so that an equal address implies an equal view.
  std::vector<std::shared_ptr<const View>> checked_;
  bool is_checked_ = false;
  std::optional<TokenSealer> sealer_;  // from Begin() on
  std::string resumed_from_;           // the request's token
  std::deque<Message> resumption_;     // what is said of it; at most two for each device
  bool is_in_round_ = true;            // the whole state is being sent
  bool synced_ = false;
  uint64_t sequence_ = 0;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_SUBSCRIPTION_H_
