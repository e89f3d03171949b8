// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/services.h"

#include <grpc/grpc_security_constants.h>

#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/api/access_entry.h"
#include "daemon/authz/bearer.h"
#include "daemon/grpc/grpc_status.h"
#include "daemon/grpc/history_query.h"
#include "daemon/grpc/queries.h"
#include "daemon/grpc/sealed_subscription.h"
#include "daemon/grpc/stream_reactor.h"
#include "daemon/grpc/stream_step.h"
#include "daemon/grpc/subscription.h"

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

// A call, as far as the audit log is concerned.
struct Asked {
  Credentials peer;
  absl::StatusOr<Caller> caller;
  Access access;
};

Asked AskedBy(const ServiceContext& context, const grpc::CallbackServerContext& call, const char* service,
              const char* method, const google::protobuf::Message& request) {
  const Credentials peer = PeerOf(context, call);
  return {peer, context.reader.Authenticate(peer), {absl::StrCat(service, "/", method), request.ShortDebugString()}};
}

void Record(const Reader& reader, const Asked& asked, const absl::Status& outcome) {
  reader.audit().Record(AccessEntry(reader, asked.caller, asked.peer, asked.access, outcome));
}

// The end of a stream, where the policy ended it.
void RecordEnd(const Reader& reader, Asked asked, const absl::Status& status) {
  if (!absl::IsUnauthenticated(status) && !absl::IsNotFound(status)) return;
  asked.access.note = "stream ended";
  // The caller is told the same words whatever the reason is; the log is told the reason.
  const absl::Status now = reader.Authenticate(asked.peer).status();
  AuditEntry entry = AccessEntry(reader, asked.caller, asked.peer, asked.access, now.ok() ? status : now);
  entry.policy_version = reader.policy().Current().version;
  reader.audit().Record(std::move(entry));
}

// `query` is one of queries.h, or is called as they are.
template <typename Query, typename Request, typename Response>
absl::Status Ask(Reader& reader, const Asked& asked, const Query& query, const Request& request, Response& response) {
  if (!asked.caller.ok()) return NobodyError();
  absl::StatusOr<Response> answer = query(reader, *asked.caller, request);
  if (answer.ok()) response = *std::move(answer);
  return answer.status();
}

template <typename Query, typename Request, typename Response>
grpc::ServerUnaryReactor* Answer(const ServiceContext& context, grpc::CallbackServerContext& call, const char* method,
                                 const Query& query, const Request& request, Response& response) {
  const Asked asked = AskedBy(context, call, "Telemetry", method, request);
  const absl::Status status = Ask(context.reader, asked, query, request, response);
  context.metrics.GrpcRequest(method, status.code());
  Record(context.reader, asked, status);
  grpc::ServerUnaryReactor* reactor = call.DefaultReactor();
  reactor->Finish(ToGrpcStatus(status));
  return reactor;
}

// A stream that ends before it begins. Owns itself until gRPC is done with it.
template <typename Message>
class RefusedStream final : public grpc::ServerWriteReactor<Message> {
 public:
  explicit RefusedStream(const absl::Status& status) { this->Finish(ToGrpcStatus(status)); }
  void OnDone() override { delete this; }
};

template <typename Message>
grpc::ServerWriteReactor<Message>* Refuse(const ServiceContext& context, const char* method, const Asked& asked,
                                          const absl::Status& status) {
  context.metrics.GrpcRequest(method, status.code());
  Record(context.reader, asked, status);
  return new RefusedStream<Message>(status);
}

template <typename Source>
grpc::ServerWriteReactor<typename Source::Message>* Open(const ServiceContext& context, const char* method, Asked asked,
                                                         Source source) {
  SelfMetrics& metrics = context.metrics;
  const Reader& reader = context.reader;
  auto stream = std::make_shared<StreamReactor<Source>>(std::move(source), context.streams,
                                                        [&metrics, &reader, method, asked](const absl::Status& status) {
                                                          metrics.GrpcRequest(method, status.code());
                                                          metrics.GrpcStreamEnded();
                                                          RecordEnd(reader, asked, status);
                                                        });
  const absl::Status added = context.streams.Add(asked.caller->principal.identity, stream);
  if (!added.ok()) return Refuse<typename Source::Message>(context, method, asked, added);
  metrics.GrpcStreamStarted();
  asked.access.note = "stream began";
  Record(reader, asked, absl::OkStatus());
  stream->Wake();
  return stream.get();
}

}  // namespace

grpc::ServerUnaryReactor* TelemetryService::ListDevices(grpc::CallbackServerContext* call,
                                                        const sideband::v1::ListDevicesRequest* request,
                                                        sideband::v1::ListDevicesResponse* response) {
  return Answer(context_, *call, "ListDevices", &daemon::ListDevices, *request, *response);
}

grpc::ServerUnaryReactor* TelemetryService::ListEvents(grpc::CallbackServerContext* call,
                                                       const sideband::v1::ListEventsRequest* request,
                                                       sideband::v1::ListEventsResponse* response) {
  return Answer(context_, *call, "ListEvents", &daemon::ListEvents, *request, *response);
}

grpc::ServerUnaryReactor* TelemetryService::ListScopes(grpc::CallbackServerContext* call,
                                                       const sideband::v1::ListScopesRequest* request,
                                                       sideband::v1::ListScopesResponse* response) {
  return Answer(context_, *call, "ListScopes", &daemon::ListScopes, *request, *response);
}

grpc::ServerUnaryReactor* TelemetryService::GetSnapshot(grpc::CallbackServerContext* call,
                                                        const sideband::v1::GetSnapshotRequest* request,
                                                        sideband::v1::GetSnapshotResponse* response) {
  return Answer(context_, *call, "GetSnapshot", &daemon::GetSnapshot, *request, *response);
}

grpc::ServerUnaryReactor* TelemetryService::GetHistory(grpc::CallbackServerContext* call,
                                                       const sideband::v1::GetHistoryRequest* request,
                                                       sideband::v1::GetHistoryResponse* response) {
  const auto query = [this](Reader& reader, const Caller& caller, const sideband::v1::GetHistoryRequest& asked) {
    return daemon::GetHistory(reader, context_.history, caller, asked);
  };
  return Answer(context_, *call, "GetHistory", query, *request, *response);
}

grpc::ServerWriteReactor<sideband::v1::SubscribeResponse>* TelemetryService::Subscribe(
    grpc::CallbackServerContext* call, const sideband::v1::SubscribeRequest* request) {
  using Message = sideband::v1::SubscribeResponse;
  Asked asked = AskedBy(context_, *call, "Telemetry", "Subscribe", *request);
  if (!asked.caller.ok()) return Refuse<Message>(context_, "Subscribe", asked, NobodyError());
  absl::StatusOr<Subscription> source = Subscription::Create(context_.reader, asked.peer, *request);
  if (!source.ok()) return Refuse<Message>(context_, "Subscribe", asked, source.status());
  return Open(context_, "Subscribe", std::move(asked), *std::move(source));
}

grpc::ServerWriteReactor<sideband::v1::SealedRecord>* ConfidentialService::SubscribeSealed(
    grpc::CallbackServerContext* call, const sideband::v1::SubscribeSealedRequest* request) {
  Asked asked = AskedBy(context_, *call, "Confidential", "SubscribeSealed", *request);
  if (!asked.caller.ok()) {
    return Refuse<sideband::v1::SealedRecord>(context_, "SubscribeSealed", asked, NobodyError());
  }
  SealedSubscription source(context_.reader, asked.peer, *request);
  return Open(context_, "SubscribeSealed", std::move(asked), std::move(source));
}

}  // namespace sideband::daemon
