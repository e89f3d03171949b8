// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/admission.h"

#include <grpc/grpc_security_constants.h>

#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/authz/bearer.h"
#include "daemon/grpc/stream_step.h"

namespace sideband::daemon {
namespace {

std::vector<std::string> Property(const grpc::AuthContext& auth, const char* name) {
  std::vector<std::string> values;
  for (const grpc::string_ref& value : auth.FindPropertyValues(name)) values.emplace_back(value.data(), value.size());
  return values;
}

// What gRPC calls a connection with LocalServerCredentials.
constexpr char kLocalSecurity[] = "local";

// Whether it has come by the Unix socket, where everybody who is let in is a local operator (grpc_server.cc).
bool IsLocal(const grpc::AuthContext& auth) {
  return Property(auth, GRPC_TRANSPORT_SECURITY_TYPE_PROPERTY_NAME) == std::vector<std::string>{kLocalSecurity};
}

// nullopt without the metadata "authorization"; of two, neither counts.
std::optional<std::string> TokenOf(const grpc::CallbackServerContext& call) {
  const auto [first, last] = call.client_metadata().equal_range("authorization");
  if (first == last) return std::nullopt;
  return std::next(first) == last ? BearerToken(std::string(first->second.data(), first->second.size())) : "";
}

Credentials PeerOf(const ServiceContext& context, const grpc::CallbackServerContext& call) {
  Credentials peer{.bearer_token = TokenOf(call)};
  const auto auth = call.auth_context();
  if (auth == nullptr || !auth->IsPeerAuthenticated()) return peer;
  if (IsLocal(*auth)) {
    peer.local_operator = context.local_operator;
    return peer;
  }
  peer.certificate = {Property(*auth, GRPC_PEER_URI_PROPERTY_NAME), Property(*auth, GRPC_PEER_DNS_PROPERTY_NAME)};
  return peer;
}

// The text of a request takes many times its bytes, and the log keeps 256 bytes of it.
constexpr size_t kToldRequestBytesMax = 1 << 10;

// For the audit log: what was asked for, or how much it was.
std::string TextOf(const google::protobuf::Message& request) {
  const size_t size = request.ByteSizeLong();
  return size <= kToldRequestBytesMax ? request.ShortDebugString() : absl::StrCat(size, " bytes");
}

// At least so much later.
std::string Milliseconds(absl::Duration duration) {
  return absl::StrCat(absl::ToInt64Milliseconds(absl::Ceil(duration, absl::Milliseconds(1))));
}

void RefuseByQuota(const ServiceContext& context, const RequestQuota::Verdict& verdict,
                   grpc::CallbackServerContext& call, Admission& admission) {
  call.AddTrailingMetadata(kRetryPushback, Milliseconds(verdict.retry_after));
  admission.status =
      absl::ResourceExhaustedError(absl::StrCat("at most ", context.quota.limits().per_second, " calls a second"));
  admission.is_told = !verdict.is_repeated;
}

// Of a caller who is somebody. The quota comes first: it bounds what all refusals after it can cost.
void Limit(const ServiceContext& context, grpc::CallbackServerContext& call, Admission& admission) {
  const std::string& identity = admission.asked.caller->principal.identity;
  const RequestQuota::Verdict verdict = context.quota.Take(identity);
  if (!verdict.is_admitted) return RefuseByQuota(context, verdict, call, admission);
  auto share = context.under_way.Begin(identity);
  admission.status = share.status();
  if (share.ok()) admission.share = *std::move(share);
}

}  // namespace

Admission Admit(const ServiceContext& context, grpc::CallbackServerContext& call, const char* endpoint,
                const google::protobuf::Message& request) {
  const Credentials peer = PeerOf(context, call);
  Admission admission{.asked = {peer, context.reader.Authenticate(peer), {.endpoint = endpoint}}};
  if (admission.asked.caller.ok()) {
    Limit(context, call, admission);
  } else {
    admission.status = NobodyError();
  }
  if (admission.is_told) admission.asked.access.resource = TextOf(request);
  return admission;
}

void Tell(const Reader& reader, const Admission& admission, const absl::Status& outcome) {
  if (!admission.is_told) return;
  const Asked& asked = admission.asked;
  reader.audit().Record(AccessEntry(reader, asked.caller, asked.peer, asked.access, outcome));
}

void TellEnd(const Reader& reader, Asked asked, const absl::Status& status) {
  if (!absl::IsUnauthenticated(status) && !absl::IsNotFound(status)) return;
  asked.access.note = "stream ended";
  // The caller is told the same words whatever the reason is; the log is told the reason.
  const absl::Status now = reader.Authenticate(asked.peer).status();
  AuditEntry entry = AccessEntry(reader, asked.caller, asked.peer, asked.access, now.ok() ? status : now);
  entry.policy_version = reader.policy().Current().version;
  reader.audit().Record(std::move(entry));
}

}  // namespace sideband::daemon
