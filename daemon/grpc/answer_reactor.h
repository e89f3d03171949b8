// SPDX-License-Identifier: Apache-2.0
//
// Carries the answer of a call that answers once, and keeps the call's share until it has gone.
#ifndef SIDEBAND_DAEMON_GRPC_ANSWER_REACTOR_H_
#define SIDEBAND_DAEMON_GRPC_ANSWER_REACTOR_H_

#include <grpcpp/support/server_callback.h>

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "daemon/grpc/calls_under_way.h"
#include "daemon/grpc/grpc_status.h"

namespace sideband::daemon {

// Owns itself until gRPC is done with it: when the answer has been taken, or the caller has gone.
class AnswerReactor final : public grpc::ServerUnaryReactor {
 public:
  // `share` may be nullptr.
  AnswerReactor(const absl::Status& status, std::unique_ptr<CallsUnderWay::Share> share) : share_(std::move(share)) {
    Finish(ToGrpcStatus(status));
  }
  void OnDone() override { delete this; }

 private:
  const std::unique_ptr<CallsUnderWay::Share> share_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_ANSWER_REACTOR_H_
