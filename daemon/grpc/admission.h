// SPDX-License-Identifier: Apache-2.0
//
// The beginning of every call: who asks, whether the call may go on, and what the audit log is told of it.
//   Admission admission = Admit(context, call, "Telemetry/GetSnapshot", request);
//   const absl::Status status = admission.status.ok() ? Answer(*admission.asked.caller) : admission.status;
//   Tell(context.reader, admission, status);
#ifndef SIDEBAND_DAEMON_GRPC_ADMISSION_H_
#define SIDEBAND_DAEMON_GRPC_ADMISSION_H_

#include <google/protobuf/message.h>
#include <grpcpp/server_context.h>

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/api/access_entry.h"
#include "daemon/authz/credentials.h"
#include "daemon/grpc/service_context.h"

namespace sideband::daemon {

// Trailing metadata of a call beyond its identity's quota: when to ask again, which gRPC's clients keep to where they
// are configured to retry (gRFC A6).
inline constexpr char kRetryPushback[] = "grpc-retry-pushback-ms";

// A call, as far as the audit log is concerned.
struct Asked {
  Credentials peer;
  absl::StatusOr<Caller> caller;
  Access access;
};

struct Admission {
  Asked asked;
  absl::Status status;                          // why it may not go on
  std::unique_ptr<CallsUnderWay::Share> share;  // nullptr where it may not
  bool is_told = true;  // to the audit log: all but refusals for the same identity's quota in a row
};

// UNAUTHENTICATED for nobody, RESOURCE_EXHAUSTED for who has asked too often or has too much under way. `endpoint` is
// SERVICE/METHOD.
Admission Admit(const ServiceContext& context, grpc::CallbackServerContext& call, const char* endpoint,
                const google::protobuf::Message& request);

// Tells the audit log what became of the call, or that a stream began.
void Tell(const Reader& reader, const Admission& admission, const absl::Status& outcome);
// The end of a stream, where the policy ended it.
void TellEnd(const Reader& reader, Asked asked, const absl::Status& status);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_ADMISSION_H_
