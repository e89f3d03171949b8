// SPDX-License-Identifier: Apache-2.0
//
// One Subscribe stream: the newest snapshots, a sync_response, then updates. It holds no queue: a slow reader receives
// the newest snapshot and the number of skipped ones.
//   SIDEBAND_ASSIGN_OR_RETURN(Subscription subscription, Subscription::Create(reader, bodies, credentials, request));
//   StreamStep<UpdateMessage> step = subscription.Next();
#ifndef SIDEBAND_DAEMON_GRPC_SUBSCRIPTION_H_
#define SIDEBAND_DAEMON_GRPC_SUBSCRIPTION_H_

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/grpc/sample_pacer.h"
#include "daemon/grpc/stream_step.h"
#include "daemon/view/reader.h"
#include "daemon/view/row_filter.h"
#include "daemon/view/snapshot_bodies.h"
#include "daemon/view/update_message.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// Not thread-safe. The reader and the bodies must outlive it.
class Subscription {
 public:
  using Message = UpdateMessage;

  // INVALID_ARGUMENT naming the field where mode, stream mode or interval is invalid. Next() checks the permissions.
  static absl::StatusOr<Subscription> Create(Reader& reader, SnapshotBodies& bodies, Credentials credentials,
                                             const sideband::v1::SubscribeRequest& request);

  // Evaluates the policy at each call, so that a change of policy or topology narrows or ends the stream at once. Ends
  // with OK after MODE_ONCE, UNAUTHENTICATED for an unknown caller, NotFound() where the filter names something absent
  // or denied.
  StreamStep<Message> Next();
  // Replaces Next() while the identity is at its limit of unread bytes: waits, or ends with UNAUTHENTICATED where the
  // policy no longer lists the caller.
  StreamStep<Message> Wait() const;

 private:
  Subscription(Reader& reader, SnapshotBodies& bodies, Credentials credentials,
               const sideband::v1::SubscribeRequest& request, absl::Duration sample_interval);

  absl::Status CheckFilter(const std::vector<VisibleDevice>& devices);
  SamplePacer& PacerOf(const VisibleDevice& device);
  std::optional<Message> NextUpdate(const std::vector<VisibleDevice>& devices);

  Reader* reader_;
  SnapshotBodies* bodies_;
  Credentials credentials_;
  RowFilter filter_;
  bool once_;
  absl::Duration sample_interval_;
  // The views of the last filter check. Held, so that an equal address implies an equal view.
  std::vector<std::shared_ptr<const View>> checked_;
  bool is_checked_ = false;
  bool synced_ = false;
  std::map<size_t, SamplePacer> pacers_;  // by device index
  size_t turn_ = 0;                       // the device after the last one sent: round robin
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_SUBSCRIPTION_H_
