// SPDX-License-Identifier: Apache-2.0
//
// Sends the answer of a unary call, and holds the call's share of its identity's limits until the answer is sent.
//   return new AnswerReactor(status, std::move(admission.share));
#ifndef SIDEBAND_DAEMON_GRPC_ANSWER_REACTOR_H_
#define SIDEBAND_DAEMON_GRPC_ANSWER_REACTOR_H_

#include <grpcpp/support/server_callback.h>

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "daemon/grpc/calls_under_way.h"
#include "daemon/grpc/grpc_status.h"

namespace sideband::daemon {

// Deletes itself when gRPC has finished the call: the client has received the answer or disconnected.
class AnswerReactor final : public grpc::ServerUnaryReactor {
 public:
  // `share` is nullptr for a rejected call.
  AnswerReactor(const absl::Status& status, std::unique_ptr<CallsUnderWay::Share> share) : share_(std::move(share)) {
    Finish(ToGrpcStatus(status));
  }
  void OnDone() override { delete this; }

 private:
  const std::unique_ptr<CallsUnderWay::Share> share_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_ANSWER_REACTOR_H_
