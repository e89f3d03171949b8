// SPDX-License-Identifier: Apache-2.0
//
// Admits or rejects a call: authentication, quotas, and the call's entry in the audit log.
//   Admission admission = Admit(context, call, "Telemetry/GetSnapshot", request);
//   const absl::Status status = admission.status.ok() ? Answer(*admission.asked.caller) : admission.status;
//   Conclude(context.reader, call, admission, status);
#ifndef SIDEBAND_DAEMON_GRPC_ADMISSION_H_
#define SIDEBAND_DAEMON_GRPC_ADMISSION_H_

#include <google/protobuf/message.h>
#include <grpcpp/server_context.h>

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/grpc/service_context.h"
#include "daemon/identity/identity.h"
#include "daemon/view/reader.h"

namespace sideband::daemon {

// Trailing metadata of a call beyond its identity's quota: the milliseconds until a retry can succeed. gRPC's clients
// obey it where a retry policy is configured (gRFC A6).
inline constexpr char kRetryPushback[] = "grpc-retry-pushback-ms";
// Trailing metadata of a failed call and of a stream: 16 hexadecimal digits, which the call's entries in the audit log
// have, too. A caller can name the call by it to an operator. Random: it tells nothing of other calls.
inline constexpr char kRequestId[] = "x-request-id";

// The parts of a call that the audit log records.
struct Asked {
  Credentials peer;
  absl::StatusOr<Caller> caller;
  Access access;
};

struct Admission {
  Asked asked;
  absl::Status status;                          // OK where the call is admitted, else the error for the caller
  std::unique_ptr<CallsUnderWay::Share> share;  // nullptr where the call is rejected
  bool is_audited = true;  // audited; false for an identity's quota rejections in a row, after the first
};

// Authenticates the caller and applies its limits. `status` of the result is UNAUTHENTICATED where the credentials are
// not in the policy, and RESOURCE_EXHAUSTED where the identity is beyond its calls per second, calls under way, unread
// answer bytes or connections. `endpoint` is SERVICE/METHOD.
Admission Admit(const ServiceContext& context, grpc::CallbackServerContext& call, const char* endpoint,
                const google::protobuf::Message& request);

// Gives the call of an authenticated caller its id, unless it has one. Before the call is finished.
void Identify(grpc::CallbackServerContext& call, Asked& asked);
// Records the outcome of a unary call, or of the start of a stream, where `admission.is_audited`. The metadata of a
// failed call tells the client when to retry, if the status has a time (daemon/base/retry_after.h), and the call's id,
// if it is recorded. Before the call is finished.
void Conclude(const Reader& reader, grpc::CallbackServerContext& call, Admission& admission,
              const absl::Status& outcome);
// Records the end of a stream that the policy ended: UNAUTHENTICATED or NOT_FOUND. Other statuses are not recorded.
void AuditStreamEnd(const Reader& reader, Asked asked, const absl::Status& status);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_ADMISSION_H_
