// SPDX-License-Identifier: Apache-2.0
//
// One Subscribe stream: the newest snapshots, a sync_response, then updates. It holds no queue: whoever reads slowly is
// given the newest state and the number of snapshots in between.
//   SIDEBAND_ASSIGN_OR_RETURN(Subscription subscription, Subscription::Create(reader, credentials, request));
//   StreamStep<sideband::v1::SubscribeResponse> step = subscription.Next();
#ifndef SIDEBAND_DAEMON_GRPC_SUBSCRIPTION_H_
#define SIDEBAND_DAEMON_GRPC_SUBSCRIPTION_H_

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/api/reader.h"
#include "daemon/api/row_filter.h"
#include "daemon/grpc/sample_pacer.h"
#include "daemon/grpc/stream_step.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// Not thread-safe; the reader must outlive it.
class Subscription {
 public:
  using Message = sideband::v1::SubscribeResponse;

  // INVALID_ARGUMENT naming the field where the request makes no sense. Who may see what is checked by Next().
  static absl::StatusOr<Subscription> Create(Reader& reader, Credentials credentials,
                                             const sideband::v1::SubscribeRequest& request);

  // Asks the policy anew each time, so that a change of policy or topology narrows or ends the stream at once.
  StreamStep<Message> Next();
  // Where there is no room for a message: the end for who is nobody any more.
  StreamStep<Message> Wait() const;

 private:
  Subscription(Reader& reader, Credentials credentials, const sideband::v1::SubscribeRequest& request,
               absl::Duration sample_interval);

  absl::Status CheckFilter(const std::vector<VisibleDevice>& devices);
  SamplePacer& PacerOf(const VisibleDevice& device);
  std::optional<Message> NextUpdate(const std::vector<VisibleDevice>& devices);

  Reader* reader_;
  Credentials credentials_;
  RowFilter filter_;
  bool once_;
  absl::Duration sample_interval_;
  // What the filter was last checked against, held so that an equal address is an equal view.
  std::vector<std::shared_ptr<const View>> checked_;
  bool is_checked_ = false;
  bool synced_ = false;
  std::map<size_t, SamplePacer> pacers_;  // by device
  size_t turn_ = 0;                       // the device after the last that was sent, so that each has its turn
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_SUBSCRIPTION_H_
