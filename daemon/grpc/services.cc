// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/services.h"

#include <grpc/grpc_security_constants.h>

#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/authz/bearer.h"
#include "daemon/grpc/grpc_status.h"
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

// nullopt without the metadata "authorization"; of two, neither counts.
std::optional<std::string> TokenOf(const grpc::CallbackServerContext& call) {
  const auto [first, last] = call.client_metadata().equal_range("authorization");
  if (first == last) return std::nullopt;
  return std::next(first) == last ? BearerToken(std::string(first->second.data(), first->second.size())) : "";
}

Credentials PeerOf(const grpc::CallbackServerContext& call) {
  Credentials peer{.bearer_token = TokenOf(call)};
  const auto auth = call.auth_context();
  if (auth == nullptr || !auth->IsPeerAuthenticated()) return peer;
  peer.certificate = {Property(*auth, GRPC_PEER_URI_PROPERTY_NAME), Property(*auth, GRPC_PEER_DNS_PROPERTY_NAME)};
  return peer;
}

// One of queries.h.
template <typename Request, typename Response>
using Query = absl::StatusOr<Response> (*)(Reader&, const Caller&, const Request&);

template <typename Request, typename Response>
absl::Status Ask(Reader& reader, const Credentials& peer, Query<Request, Response> query, const Request& request,
                 Response& response) {
  const auto caller = reader.Identify(peer);
  if (!caller) return NobodyError();
  absl::StatusOr<Response> answer = query(reader, *caller, request);
  if (answer.ok()) response = *std::move(answer);
  return answer.status();
}

template <typename Request, typename Response>
grpc::ServerUnaryReactor* Answer(const ServiceContext& context, grpc::CallbackServerContext& call, const char* method,
                                 Query<Request, Response> query, const Request& request, Response& response) {
  const absl::Status status = Ask(context.reader, PeerOf(call), query, request, response);
  context.metrics.GrpcRequest(method, status.code());
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
grpc::ServerWriteReactor<Message>* Refuse(const ServiceContext& context, const char* method,
                                          const absl::Status& status) {
  context.metrics.GrpcRequest(method, status.code());
  return new RefusedStream<Message>(status);
}

template <typename Source>
grpc::ServerWriteReactor<typename Source::Message>* Open(const ServiceContext& context, const char* method,
                                                         const std::string& identity, Source source) {
  SelfMetrics& metrics = context.metrics;
  auto stream = std::make_shared<StreamReactor<Source>>(std::move(source), context.streams,
                                                        [&metrics, method](const absl::Status& status) {
                                                          metrics.GrpcRequest(method, status.code());
                                                          metrics.GrpcStreamEnded();
                                                        });
  if (const absl::Status added = context.streams.Add(identity, stream); !added.ok()) {
    return Refuse<typename Source::Message>(context, method, added);
  }
  metrics.GrpcStreamStarted();
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

grpc::ServerWriteReactor<sideband::v1::SubscribeResponse>* TelemetryService::Subscribe(
    grpc::CallbackServerContext* call, const sideband::v1::SubscribeRequest* request) {
  const Credentials peer = PeerOf(*call);
  const auto caller = context_.reader.Identify(peer);
  if (!caller) return Refuse<sideband::v1::SubscribeResponse>(context_, "Subscribe", NobodyError());
  absl::StatusOr<Subscription> source = Subscription::Create(context_.reader, peer, *request);
  if (!source.ok()) return Refuse<sideband::v1::SubscribeResponse>(context_, "Subscribe", source.status());
  return Open(context_, "Subscribe", caller->principal.identity, *std::move(source));
}

grpc::ServerWriteReactor<sideband::v1::SealedRecord>* ConfidentialService::SubscribeSealed(
    grpc::CallbackServerContext* call, const sideband::v1::SubscribeSealedRequest* request) {
  const Credentials peer = PeerOf(*call);
  const auto caller = context_.reader.Identify(peer);
  if (!caller) return Refuse<sideband::v1::SealedRecord>(context_, "SubscribeSealed", NobodyError());
  return Open(context_, "SubscribeSealed", caller->principal.identity,
              SealedSubscription(context_.reader, peer, *request));
}

}  // namespace sideband::daemon
